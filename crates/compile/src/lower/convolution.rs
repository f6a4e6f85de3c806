//! Convolutions of images `[H,W,C]` with kernels `[h,w,C,O]`, and their cotangents.
//!
//! Sums go over the same places in the same order as in the tensor crate, by fused multiplications and additions.

use super::long_loops::Cut;
use super::print::Printer;
use super::schedule::Item;
use crate::lines::Lines;
use crate::nest::{index, loops, part_of_loops, place};
use crate::view::{View, row_major};

/// Indices: r, q are the pixel of the result, i, j the place in the kernel, c the channel, o the output.
const NAMES: [usize; 6] = [0, 1, 2, 3, 4, 5];

struct Places {
    sizes: [usize; 6],
    image: String,
    kernel: String,
    pixel: String,
}

impl Places {
    fn new(
        image: ([usize; 3], usize, &[usize]),
        kernel: ([usize; 4], usize, &[usize]),
        pixel: (usize, &[usize]),
    ) -> Places {
        let ([height, width, channels], image_offset, image_strides) = image;
        let ([h, w, _, outputs], kernel_offset, kernel_strides) = kernel;
        let [r, q, i, j, c, o] = NAMES.map(index);
        let sizes = [height - h + 1, width - w + 1, h, w, channels, outputs];
        let (s, k, p) = (image_strides, kernel_strides, pixel.1);
        Places {
            sizes,
            image: place(
                image_offset,
                [
                    (r.clone(), s[0]),
                    (i.clone(), s[0]),
                    (q.clone(), s[1]),
                    (j.clone(), s[1]),
                    (c.clone(), s[2]),
                ],
            ),
            kernel: place(kernel_offset, [(i, k[0]), (j, k[1]), (c, k[2]), (o.clone(), k[3])]),
            pixel: place(pixel.0, [(r, p[0]), (q, p[1]), (o, p[2])]),
        }
    }
}

fn three(shape: &[usize]) -> [usize; 3] {
    [shape[0], shape[1], shape[2]]
}

fn four(shape: &[usize]) -> [usize; 4] {
    [shape[0], shape[1], shape[2], shape[3]]
}

fn seen(view: &View) -> (usize, &[usize]) {
    (view.offset, &view.strides)
}

/// A convolution or a cotangent: the names of its two factors and of its result among the places, how many terms an element has at least,
/// and the loops along which the result moves alone. The last loop is none of these: it is for vectors.
struct Kind {
    places: fn(&Item<'_>) -> Places,
    factors: [fn(&Places) -> &String; 2],
    target: fn(&Places) -> &String,
    n_terms: fn(&Item<'_>) -> usize,
    own: &'static [usize],
}

fn write(printer: &Printer<'_>, item: &Item<'_>, kind: &Kind, lines: &mut Lines) {
    let (size, n_terms) = (item.statement.ty.shape.iter().product(), (kind.n_terms)(item));
    let array = printer.array(item);
    let start = printer.precision.number(if n_terms == 0 { 0.0 } else { -0.0 });
    loops(&[size], 0, lines, |lines| lines.line(format!("{array}[i0] = {start};")));
    if n_terms == 0 || size == 0 {
        return;
    }
    let sizes = (kind.places)(item).sizes;
    let along = kind.own.iter().copied().max_by_key(|axis| sizes[*axis]).expect("the result has axes");
    let cut = Cut { size: sizes[along], unit: 1, n_terms: sizes.iter().product() };
    let is_cut = printer.in_pieces(std::slice::from_ref(item), &cut, lines, |printer, items, lines| {
        part_of_loops(&sizes, along, lines, |lines| add(printer, &items[0], kind, lines));
    });
    if !is_cut {
        loops(&sizes, 0, lines, |lines| add(printer, item, kind, lines));
    }
}

/// Adds a term to an element of the result.
fn add(printer: &Printer<'_>, item: &Item<'_>, kind: &Kind, lines: &mut Lines) {
    let places = (kind.places)(item);
    let factor = |number: usize| printer.homes.element(&item.reads[number], (kind.factors[number])(&places));
    let target = format!("{}[{}]", printer.array(item), (kind.target)(&places));
    let (x, y, fma) = (factor(0), factor(1), printer.precision.function("fma"));
    lines.line(format!("{target} = {fma}({x}, {y}, {target});"));
}

pub(super) fn conv2d(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let places = |item: &Item<'_>| {
        let (image, kernel) = (&item.reads[0], &item.reads[1]);
        let own = row_major(&item.statement.ty.shape);
        let ((o, s), (p, k)) = (seen(image), seen(kernel));
        Places::new((three(&image.shape), o, s), (four(&kernel.shape), p, k), (0, &own))
    };
    let kind = Kind {
        places,
        factors: [|places| &places.image, |places| &places.kernel],
        target: |places| &places.pixel,
        n_terms: |item| item.reads[0].shape[2],
        own: &[0, 1],
    };
    write(printer, item, &kind, lines);
}

pub(super) fn conv2d_dx(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let places = |item: &Item<'_>| {
        let (kernel, shape) = (&item.reads[0], &item.statement.ty.shape);
        let (own, (p, k)) = (row_major(shape), seen(kernel));
        Places::new((three(shape), 0, &own), (four(&kernel.shape), p, k), seen(&item.reads[1]))
    };
    let kind = Kind {
        places,
        factors: [|places| &places.kernel, |places| &places.pixel],
        target: |places| &places.image,
        n_terms: |item| item.reads[1].shape[2],
        own: &[4],
    };
    write(printer, item, &kind, lines);
}

pub(super) fn conv2d_dk(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let places = |item: &Item<'_>| {
        let (image, shape) = (&item.reads[0], &item.statement.ty.shape);
        let (own, (o, s)) = (row_major(shape), seen(image));
        Places::new((three(&image.shape), o, s), (four(shape), 0, &own), seen(&item.reads[1]))
    };
    let kind = Kind {
        places,
        factors: [|places| &places.image, |places| &places.pixel],
        target: |places| &places.kernel,
        n_terms: |_| 1,
        own: &[2, 3, 4],
    };
    write(printer, item, &kind, lines);
}
