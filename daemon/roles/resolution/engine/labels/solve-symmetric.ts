// Solves linear equations with a symmetric positive definite matrix, by Cholesky's decomposition.

/** Returns x of A x = b. Overwrites neither. The matrix must be positive definite, as one with a ridge is. */
export function solveSymmetric(matrix: readonly Float64Array[], right: Float64Array): Float64Array {
  const size = right.length
  const lower = matrix.map(() => new Float64Array(size))
  const solution = Float64Array.from(right)
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row]![column]!
      for (let at = 0; at < column; at++) sum -= lower[row]![at]! * lower[column]![at]!
      lower[row]![column] = row === column ? Math.sqrt(sum) : sum / lower[column]![column]!
    }
    for (let at = 0; at < row; at++) solution[row]! -= lower[row]![at]! * solution[at]!
    solution[row]! /= lower[row]![row]!
  }
  for (let row = size - 1; row >= 0; row--) {
    for (let at = row + 1; at < size; at++) solution[row]! -= lower[at]![row]! * solution[at]!
    solution[row]! /= lower[row]![row]!
  }
  return solution
}
