-- G12 of the specification: paper, section 2: gradient descent, completed.
-- check
-- => real * real
-- run: tape, reference, transform
-- => (14.765625, 2.953125)
const a = 2 in const b = 6 in const w0 = 0 in const rate = 0.0625 in const maxLoss = 0.01 in
let myUntrainedModel(x:real, w:real):real = w * x in
let myLoss(y:real, p:real):real = (p - y) * (p - y) in
let myTrainedModel(x:real):real =
  let currentLoss(w:real):real = myLoss(b, myUntrainedModel(a, w)) in
  let gradLoss(w:real):real = grad[w](v:real. currentLoss(v)) in
  letrec descend(w:real):real =
    if currentLoss(w) < maxLoss then w else descend(w - rate * gradLoss(w)) in
  myUntrainedModel(x, descend(w0))
in (myTrainedModel(5), grad[5](myTrainedModel))
