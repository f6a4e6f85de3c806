//! ZIP archives: the members of a file, checked against their sums.
//!
//! Only what NPZ files contain is read: members that are stored or deflated, in a single file, without
//! encryption. The sizes come from the directory at the end of the file, since a member that was written to
//! a pipe has none at its start.

use crate::rows::BadData;

/// The largest size of a member, which is kept in memory.
const MAX_MEMBER_BYTES: u64 = 1 << 32;

const END: &[u8] = b"PK\x05\x06";
const END_64_LOCATOR: &[u8] = b"PK\x06\x07";
const END_64: &[u8] = b"PK\x06\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// The length of the record at the end, without its comment.
const END_LENGTH: usize = 22;

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    is_deflated: bool,
    sum: u32,
    n_compressed: u64,
    n_bytes: u64,
    /// Where its own header begins.
    offset: u64,
}

/// The members of an archive, in the order of its directory.
pub fn members(file: &[u8]) -> Result<Vec<Member>, BadData> {
    let (n_entries, mut at) = directory(file).ok_or_else(|| bad("this is no NPZ file, or it is cut off"))?;
    let mut members = Vec::new();
    for _ in 0..n_entries {
        let (member, next) = entry(file, at).ok_or_else(|| bad("the directory of the archive is damaged"))?;
        members.push(member?);
        at = next;
    }
    Ok(members)
}

impl Member {
    /// Its contents.
    pub fn bytes(&self, file: &[u8]) -> Result<Vec<u8>, BadData> {
        let damaged = || bad(&format!("`{}` is damaged in the archive", self.name));
        let compressed = self.compressed(file).ok_or_else(damaged)?;
        if self.n_bytes > MAX_MEMBER_BYTES {
            let message = format!("`{}` is larger than {} MiB", self.name, MAX_MEMBER_BYTES >> 20);
            return Err(bad(&message));
        }
        let n_bytes = usize::try_from(self.n_bytes).map_err(|_| damaged())?;
        let bytes = if self.is_deflated {
            miniz_oxide::inflate::decompress_to_vec_with_limit(compressed, n_bytes).map_err(|_| damaged())?
        } else {
            compressed.to_vec()
        };
        if bytes.len() == n_bytes && sum(&bytes) == self.sum { Ok(bytes) } else { Err(damaged()) }
    }

    fn compressed<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        let header = tail(file, self.offset)?.strip_prefix(LOCAL)?;
        let (n_name, n_extra) = (u16_at(header, 22)?, u16_at(header, 24)?);
        let start = 26 + usize::from(n_name) + usize::from(n_extra);
        header.get(start..)?.get(..usize::try_from(self.n_compressed).ok()?)
    }
}

/// The number of entries of the directory, and where it begins.
fn directory(file: &[u8]) -> Option<(u64, u64)> {
    // A comment of at most 64 KiB may follow the record.
    let last = file.len().checked_sub(END_LENGTH)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let at = (first..=last).rev().find(|at| {
        let n_comment = u16_at(&file[*at..], 20).map(usize::from);
        file[*at..].starts_with(END) && n_comment == Some(file.len() - at - END_LENGTH)
    })?;
    let end = &file[at..];
    let (n_entries, offset) = (u16_at(end, 10)?, u32_at(end, 16)?);
    if n_entries != u16::MAX && offset != u32::MAX {
        return Some((u64::from(n_entries), u64::from(offset)));
    }
    let locator = file.get(at.checked_sub(20)?..)?.strip_prefix(END_64_LOCATOR)?;
    let end = tail(file, u64_at(locator, 4)?)?.strip_prefix(END_64)?;
    Some((u64_at(end, 28)?, u64_at(end, 44)?))
}

/// The entry of the directory at this place, and where the next one begins.
fn entry(file: &[u8], at: u64) -> Option<(Result<Member, BadData>, u64)> {
    let entry = tail(file, at)?.strip_prefix(ENTRY)?;
    let (flags, method) = (u16_at(entry, 4)?, u16_at(entry, 6)?);
    let [n_name, n_extra, n_comment] = [24, 26, 28].map(|at| u16_at(entry, at).map(usize::from));
    let (n_name, n_extra, n_comment) = (n_name?, n_extra?, n_comment?);
    let name = String::from_utf8_lossy(entry.get(42..42 + n_name)?).into_owned();
    let mut sizes = [u32_at(entry, 20)?, u32_at(entry, 16)?, u32_at(entry, 38)?].map(u64::from);
    // Sizes that do not fit are in an extra field, in this order.
    let mut large = wide_sizes(entry.get(42 + n_name..42 + n_name + n_extra)?);
    for size in sizes.iter_mut().filter(|size| **size == u64::from(u32::MAX)) {
        *size = large.next()?;
    }
    let [n_bytes, n_compressed, offset] = sizes;
    let next = at + 46 + (n_name + n_extra + n_comment) as u64;
    let member = match method {
        _ if flags & 1 != 0 => Err(bad(&format!("`{name}` is encrypted"))),
        0 | 8 => Ok(Member {
            name,
            is_deflated: method == 8,
            sum: u32_at(entry, 12)?,
            n_compressed,
            n_bytes,
            offset,
        }),
        _ => Err(bad(&format!("`{name}` is compressed by a method other than deflate"))),
    };
    Some((member, next))
}

/// The numbers of the extra field for sizes of 64 bits.
fn wide_sizes(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut numbers = Vec::new();
    while let (Some(kind), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let Some(field) = extra.get(4..4 + usize::from(length)) else { break };
        if kind == 1 {
            numbers.extend(field.chunks_exact(8).filter_map(|number| u64_at(number, 0)));
        }
        extra = &extra[4 + usize::from(length)..];
    }
    numbers.into_iter()
}

/// The CRC-32 of some bytes.
fn sum(bytes: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (byte, entry) in (0..).zip(&mut table) {
        *entry = (0..8).fold(byte, |sum, _| if sum & 1 == 0 { sum >> 1 } else { 0xEDB8_8320 ^ (sum >> 1) });
    }
    !bytes.iter().fold(u32::MAX, |sum, byte| table[usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8))
}

fn tail(file: &[u8], at: u64) -> Option<&[u8]> {
    file.get(usize::try_from(at).ok()?..)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn bad(message: &str) -> BadData {
    BadData::without_line(message)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An archive with these members, stored or deflated.
    pub(crate) fn archive(members: &[(&str, &[u8])], is_deflated: bool) -> Vec<u8> {
        let (mut file, mut directory) = (Vec::new(), Vec::new());
        for (name, bytes) in members {
            let data =
                if is_deflated { miniz_oxide::deflate::compress_to_vec(bytes, 6) } else { bytes.to_vec() };
            let length = |n: usize| u32::try_from(n).expect("a small file").to_le_bytes();
            let mut common = vec![20, 0, 0, 0, if is_deflated { 8 } else { 0 }, 0, 0, 0, 0, 0];
            common.extend(sum(bytes).to_le_bytes());
            common.extend(length(data.len()));
            common.extend(length(bytes.len()));
            common.extend(u16::try_from(name.len()).expect("a short name").to_le_bytes());
            common.extend([0, 0]);
            directory.extend(ENTRY);
            directory.extend([20, 0]);
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(length(file.len()));
            directory.extend(name.bytes());
            file.extend(LOCAL);
            file.extend(common);
            file.extend(name.bytes());
            file.extend(data);
        }
        let (start, n) = (file.len(), u16::try_from(members.len()).expect("few members").to_le_bytes());
        let size = directory.len();
        file.extend(directory);
        file.extend(END);
        file.extend([0; 4]);
        file.extend([n, n].concat());
        file.extend(u32::try_from(size).expect("a small file").to_le_bytes());
        file.extend(u32::try_from(start).expect("a small file").to_le_bytes());
        file.extend([0, 0]);
        file
    }

    #[test]
    fn the_sum_is_the_usual_one() {
        assert_eq!(sum(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn members_come_back_stored_and_deflated() {
        let long = b"abc".repeat(1000);
        for is_deflated in [false, true] {
            let file = archive(&[("a.npy", b"first"), ("b.npy", &long)], is_deflated);
            let found = members(&file).expect("it was just written");
            assert_eq!(found.iter().map(|member| &*member.name).collect::<Vec<_>>(), ["a.npy", "b.npy"]);
            assert_eq!(found[1].bytes(&file), Ok(long.clone()));
        }
    }

    /// A damaged file is refused, and never read as other bytes.
    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        for is_deflated in [false, true] {
            let file = archive(&[("a.npy", b"some bytes")], is_deflated);
            let read = |file: &[u8]| -> Result<Vec<u8>, BadData> {
                let members = members(file)?;
                members.first().ok_or_else(|| bad("it is empty"))?.bytes(file)
            };
            for length in 0..file.len() {
                assert!(read(&file[..length]).is_err(), "cut after {length} bytes");
            }
            for at in 0..file.len() {
                let mut changed = file.clone();
                changed[at] ^= 0x10;
                assert!(read(&changed).map_or(true, |bytes| bytes == b"some bytes"), "byte {at}");
            }
        }
    }
}
