//! Convolutions of images `[H,W,C]` with kernels `[h,w,C,O]`, and their cotangents.
//!
//! Sums go over the same places in the same order as in the tensor crate, by fused multiplications and additions.

use super::print::Printer;
use super::schedule::Item;
use crate::lines::Lines;
use crate::nest::{index, loops, place};
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

fn write(
    printer: &Printer<'_>,
    item: &Item<'_>,
    places: &Places,
    (x, y, target): (&str, &str, &str),
    n_terms: usize,
    lines: &mut Lines,
) {
    let size: usize = item.statement.ty.shape.iter().product();
    let array = printer.array(item);
    let start = printer.precision.number(if n_terms == 0 { 0.0 } else { -0.0 });
    loops(&[size], 0, lines, |lines| lines.line(format!("{array}[i0] = {start};")));
    if n_terms == 0 || size == 0 {
        return;
    }
    let fma = printer.precision.function("fma");
    loops(&places.sizes, 0, lines, |lines| {
        lines.line(format!("{array}[{target}] = {fma}({x}, {y}, {array}[{target}]);"));
    });
}

pub(super) fn conv2d(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let (image, kernel) = (&item.reads[0], &item.reads[1]);
    let own = row_major(&item.statement.ty.shape);
    let (o, s) = seen(image);
    let (p, k) = seen(kernel);
    let places = Places::new((three(&image.shape), o, s), (four(&kernel.shape), p, k), (0, &own));
    let x = printer.homes.element(image, &places.image);
    let y = printer.homes.element(kernel, &places.kernel);
    write(printer, item, &places, (&x, &y, &places.pixel), image.shape[2], lines);
}

pub(super) fn conv2d_dx(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let (kernel, g) = (&item.reads[0], &item.reads[1]);
    let shape = &item.statement.ty.shape;
    let own = row_major(shape);
    let (p, k) = seen(kernel);
    let places = Places::new((three(shape), 0, &own), (four(&kernel.shape), p, k), seen(g));
    let x = printer.homes.element(kernel, &places.kernel);
    let y = printer.homes.element(g, &places.pixel);
    write(printer, item, &places, (&x, &y, &places.image), g.shape[2], lines);
}

pub(super) fn conv2d_dk(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let (image, g) = (&item.reads[0], &item.reads[1]);
    let shape = &item.statement.ty.shape;
    let own = row_major(shape);
    let (o, s) = seen(image);
    let places = Places::new((three(&image.shape), o, s), (four(shape), 0, &own), seen(g));
    let x = printer.homes.element(image, &places.image);
    let y = printer.homes.element(g, &places.pixel);
    write(printer, item, &places, (&x, &y, &places.kernel), 1, lines);
}
