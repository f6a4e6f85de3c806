//! Convolutions of images `[H,W,C]` with kernels `[h,w,C,O]`, and their cotangents.
//!
//! Sums run over the same terms in the same order as in the tensor crate, with fused multiply-adds.

use eddy_imp::{Block, Expr, Intrinsic};

use super::schedule::Item;
use super::write::Writer;
use crate::nest::{index, loops, place};
use crate::view::{View, row_major};

/// Indices: r, q are the pixel of the result, i, j the position in the kernel, c the channel, o the output
/// channel.
const NAMES: [usize; 6] = [0, 1, 2, 3, 4, 5];

struct Places {
    sizes: [usize; 6],
    image: Expr,
    kernel: Expr,
    pixel: Expr,
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

/// A convolution or a cotangent: the roles of the three arrays, and the least number of terms of an element.
struct Kind {
    places: fn(&Item<'_>) -> Places,
    factors: [fn(&Places) -> &Expr; 2],
    target: fn(&Places) -> &Expr,
    n_terms: fn(&Item<'_>) -> usize,
}

fn write(writer: &Writer<'_>, item: &Item<'_>, kind: &Kind, block: &mut Block) {
    let (size, n_terms) = (item.statement.ty.shape.iter().product(), (kind.n_terms)(item));
    let array = writer.array(item);
    let start = Expr::num(if n_terms == 0 { 0.0 } else { -0.0 });
    loops(&[size], 0, block, |block| block.store(array.index(index(0)), start));
    if n_terms == 0 || size == 0 {
        return;
    }
    let places = (kind.places)(item);
    let factor = |n: usize| writer.homes.element(&item.reads[n], (kind.factors[n])(&places).clone());
    let target = array.index((kind.target)(&places).clone());
    let sum = Expr::Call(Intrinsic::Fma, vec![factor(0), factor(1), target.load()]);
    loops(&places.sizes, 0, block, |block| block.store(target, sum));
}

pub(super) fn conv2d(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
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
    };
    write(writer, item, &kind, block);
}

pub(super) fn conv2d_dx(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
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
    };
    write(writer, item, &kind, block);
}

pub(super) fn conv2d_dk(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
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
    };
    write(writer, item, &kind, block);
}
