//! Functions: what the parser reads, and how the formatter writes it.

mod show;

use eddy_language::format;
use eddy_syntax::SourceFile;
use expect_test::{Expect, expect};

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show::show(text));
}

fn check_format(text: &str, expected: &Expect) {
    expected.assert_eq(&format(&SourceFile::new("test.eddy", text)).expect("it parses"));
}

#[test]
fn items() {
    check(
        "fn f[n, k](x: num [n], g: (num, int) -> num) -> {a: num, b: (int, bool [2])} = x;
         const c: r[3] = 1; type r[n] = {x: num [n]}; type e = enum {up, down}; eval -c;",
        &expect![[r"
            fn f[n, k](x: num[n], g: (num, int) -> num) -> {a: num, b: (int, bool[2])} = x
            const c: r[3] = 1
            type r[n] = {x: num[n]}
            type e[] = enum up, down
            eval (- c)
        "]],
    );
}

#[test]
fn expressions() {
    check(
        "eval let x: num = 1 in let f(y, z: int) -> num = y + z in \\a, (b, _): (num, num). f(a, b) + x;
         eval [i < n: i]; eval [i < n, 1 <= j < i + 1 if j mod 2 == 0: a[i, j]]; eval [i < n, j < m];
         eval sum(i < 4, j < i: i * j) + sum(a < b) + max(2 <= i < 5: 7);
         eval [[1, 2], [i < 2: i], [a <= b, let x: num = 1 in x]];
         eval a[.., 0, 1.., ..2, i..j + 1, [1, 0]]; eval t.0.1.x + r.y[3].z;
         eval a with [0, 1] += 10 with [1] = [7, 8, 9];
         eval {b with mass = 0.5, at = {x = 1, y = ()}};
         eval match size(x) {small: x * x, _: let y = x in y};
         eval fold (a, {b, c = d}) = (0, z) for i < 3, 0 <= j < 2 if i != j do 10 * a + i;
         eval loop x = 1.0 while x < 50.0 do x * 3.0; eval scan x = 80.0 while x > 10.0 do x / 2.0;
         eval fold(f, x) + (fold s = 0 for i < 3 do s);",
        &expect![[r"
            eval (let x: num = 1 in (let f(y, z: int) -> num = (y + z) in (\a, (b, _): (num, num). (f(a, b) + x))))
            eval [i < n: i]
            eval [i < n, 1 <= j < (i + 1) if ((j mod 2) == 0): a[i, j]]
            eval [(i < n), (j < m)]
            eval ((sum(i < 4, j < i: (i * j)) + sum((a < b))) + max(2 <= i < 5: 7))
            eval [[1, 2], [i < 2: i], [(a <= b), (let x: num = 1 in x)]]
            eval a[.., 0, 1.., ..2, i..(j + 1), [1, 0]]
            eval (t.0.1.x + r.y[3].z)
            eval ((a with [0, 1] += 10) with [1] = [7, 8, 9])
            eval {b with mass = 0.5, at = {x = 1, y = unit}}
            eval (match size(x) {small: (x * x), _: (let y = x in y)})
            eval (fold (a, {b, c = d}) = tuple(0, z) for i < 3, 0 <= j < 2 if (i != j) do ((10 * a) + i))
            eval (loop x = 1.0 while (x < 50.0) do (x * 3.0))
            eval (scan x = 80.0 while (x > 10.0) do (x / 2.0))
            eval (fold(f, x) + {(fold s = 0 for i < 3 do s)})
        "]],
    );
}

#[test]
fn words_of_functions_are_names_in_nodes() {
    check(
        "node f(let, in, match) -> (with, eval) with = let + in; eval = match; fold, do = (with, let);
         node eval2() -> (type) type = 1 fby const; const = 2; run f {let: 1 ..2; }",
        &expect![[r"
            E0102 expected a number or cells with blanks between them, found `.2`
            node f(let, in, match) -> (with, eval)
              with = (let + in)
              eval = match
              fold, do = tuple(with, let)
            node eval2() -> (type)
              type = (1 fby const)
              const = 2
            run f
              let: 1 .
        "]],
    );
}

#[test]
fn mistakes() {
    check(
        "fn f(x = x; eval 1 + let x = 1 in x; eval [i < 3: i; eval {x = 1; fn g(x) = 3;",
        &expect![[r"
        E0102 expected `,` or `)`, found `=`
        E0102 expected an operand, found `let`
        E0102 expected `]`, found `;`
        E0102 expected `,` or `}`, found `;`
        eval (1 + (let x = 1 in x))
        eval <error>
        eval <error>
        fn g[](x) = 3
    "]],
    );
    check(
        "eval let x = 3; eval fold s = 0 do 1; eval a with [1] 2; eval match x {1: 2}; eval t.1e3;",
        &expect![[r"
            E0102 expected `in`, found `;`
            E0102 expected `for` or `while`, found `do`
            E0102 expected `=` or `+=`, found `2`
            E0102 expected the name of an enumerator, or `_`, found `1`
            E0102 expected a number of digits only, found `1e3`
            eval <error>
            eval <error>
            eval <error>
            eval <error>
            eval <error>
        "]],
    );
    check(
        "eval sum(i < n, j: i); eval [1 <= 2: 3]; eval loop; const = 3; type = 3;",
        &expect![[r"
        E0102 expected `<=` and a name, found `:`
        E0102 expected `,` or `]`, found `:`
        E0102 expected a name, `_`, or a pattern in parentheses, found `;`
        E0102 expected `node`, `fn`, `run` or `train`, found `const`
        eval <error>
        eval <error>
        eval <error>
    "]],
    );
}

#[test]
fn the_format() {
    check_format(
        "fn conv[n,k](x:num[n],w:num[k])->num[n-k+1]=[i<n-k+1:sum(j<k:x[i+j]*w[j])];
type body={at:num[2],mass:num,id:int};type sort=enum{small,large};
const b={id=7,mass=2.0,at=[1.0,3.0]};
eval{b with mass=0.5};
eval a with[0,1]+=10 with[1]=[7,8,9];
eval match size(x){small:x*x,large:20.0*x};
eval(a[1,2],a[..,0],a[0,1..],a[[1,0,1]],t.0.1.x);
fn iterate(f:(num)->num,n:int,x:num)->num=if n==0 then x else iterate(f,n-1,f(x));
eval let{at,mass=m}=b in let add(x:num)->num=x+k in\\z,(u,_).add(k);
fn a_long_function_with_many_parameters(first_parameter: num, second_parameter: num [n, m], third: bool) -> num = first_parameter;
fn f(x) = let a_rather_long_name = something(x) in let another_long_name = other(a_rather_long_name) in a_rather_long_name + another_long_name;
fn sweep[n](x: num [n], w: num) -> num [n] = fold y = x for i < n - 1 do y with [i + 1] = w * y[i] with [0] += y[i + 1] * something;
fn cost(x: num) -> num = match size_of_something(x) { small: x * x, medium: x * x * 2.0 + 1.0, large: 20.0 * x, huge: 1000.0 };
",
        &expect![[r"
            fn conv[n, k](x: num [n], w: num [k]) -> num [n - k + 1] =
              [i < n - k + 1: sum(j < k: x[i + j] * w[j])];
            type body = { at: num [2], mass: num, id: int };
            type sort = enum { small, large };
            const b = { id = 7, mass = 2.0, at = [1.0, 3.0] };
            eval { b with mass = 0.5 };
            eval a with [0, 1] += 10 with [1] = [7, 8, 9];
            eval match size(x) { small: x * x, large: 20.0 * x };
            eval (a[1, 2], a[.., 0], a[0, 1..], a[[1, 0, 1]], t.0.1.x);
            fn iterate(f: (num) -> num, n: int, x: num) -> num = if n == 0 then x else iterate(f, n - 1, f(x));
            eval let {at, mass = m} = b in let add(x: num) -> num = x + k in \z, (u, _). add(k);
            fn a_long_function_with_many_parameters(
              first_parameter: num,
              second_parameter: num [n, m],
              third: bool
            ) -> num = first_parameter;
            fn f(x) =
              let a_rather_long_name = something(x) in
              let another_long_name = other(a_rather_long_name) in
              a_rather_long_name + another_long_name;
            fn sweep[n](x: num [n], w: num) -> num [n] =
              fold y = x for i < n - 1 do y with [i + 1] = w * y[i] with [0] += y[i + 1] * something;
            fn cost(x: num) -> num = match size_of_something(x) {
              small: x * x,
              medium: x * x * 2.0 + 1.0,
              large: 20.0 * x,
              huge: 1000.0
            };
        "]],
    );
}
