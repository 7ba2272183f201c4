// Dempster's rule on any frame, used by the role and by the tests against published examples.
import { addMass, clearMass, divideMass, type Mass, massAt, vacuous, wholeFrame, zeroMass } from './mass.ts'

/** `mass` null and K = 1: the sources leave nothing possible. */
export type DempsterCombination = { readonly mass: Mass | null; readonly K: number }

/** The largest K below one. K = 1 is reserved for total conflict, so a K that merely rounds to one becomes this. */
const K_BELOW_ONE = 1 - 2 ** -53

/**
 * The conjunctive rule, not normalised: m(A) = sum of a(B) b(C) over all B and C whose intersection is A.
 * The mass of the empty set is the conflict K of the two.
 * Source: P. Smets, "The combination of evidence in the transferable belief model" (1990).
 */
export function conjunctive(a: Mass, b: Mass): Mass {
  requireSameFrame(a, b)
  const joint = zeroMass(a.singletons)
  conjoinInto(joint, a, b)
  return joint
}

/** Dempster's rule for two sources. Source: G. Shafer, "A Mathematical Theory of Evidence" (1976), chapter 3. */
export function dempster(a: Mass, b: Mass): DempsterCombination {
  requireSameFrame(a, b)
  const sources = [a, b]
  return combineSources(a.singletons, sources.length, (index) => sources[index] as Mass)
}

/**
 * Dempster's rule over any number of sources, renormalised after each. K is global: 1 - product of (1 - K of each
 * step), which is also what one joint combination would leave on the empty set. Each source is read before the next
 * is requested, so `sourceAt` may refill one and the same mass function.
 */
export function combineSources(
  singletons: number,
  count: number,
  sourceAt: (index: number) => Mass,
): DempsterCombination {
  let state = vacuous(singletons)
  let next = zeroMass(singletons)
  let K = 0
  for (let index = 0; index < count; index++) {
    const source = sourceAt(index)
    // The neutral element changes nothing; going through the arithmetic might change the last bit.
    if (isVacuous(source)) continue
    clearMass(next)
    conjoinInto(next, state, source)
    K += (1 - K) * Math.min(1, massAt(next, 0))
    if (!normalise(next)) return { mass: null, K: 1 }
    const scratch = state
    state = next
    next = scratch
  }
  return { mass: state, K: Math.min(K, K_BELOW_ONE) }
}

function conjoinInto(joint: Mass, a: Mass, b: Mass): void {
  const subsets = a.mantissa.length
  for (let left = 1; left < subsets; left++) {
    const leftMass = a.mantissa[left] as number
    if (leftMass === 0) continue
    const leftExponent = a.exponent[left] as number
    for (let right = 1; right < subsets; right++) {
      const product = leftMass * (b.mantissa[right] as number)
      if (product !== 0) addMass(joint, left & right, product, leftExponent + (b.exponent[right] as number))
    }
  }
}

/** Moves the mass of the empty set to the others in proportion; false where there are no others. */
function normalise(joint: Mass): boolean {
  const { mantissa, exponent } = joint
  mantissa[0] = 0
  exponent[0] = 0
  // The slot of the empty set is free now: the sum is computed there, with the same extended range.
  for (let subset = 1; subset < mantissa.length; subset++) {
    addMass(joint, 0, mantissa[subset] as number, exponent[subset] as number)
  }
  const total = mantissa[0]
  const totalExponent = exponent[0]
  mantissa[0] = 0
  exponent[0] = 0
  if (total === 0) return false
  for (let subset = 1; subset < mantissa.length; subset++) divideMass(joint, subset, total, totalExponent)
  return true
}

function isVacuous(mass: Mass): boolean {
  const whole = wholeFrame(mass)
  if (mass.mantissa[whole] !== 1 || mass.exponent[whole] !== 0) return false
  for (let subset = 1; subset < whole; subset++) if (mass.mantissa[subset] !== 0) return false
  return true
}

function requireSameFrame(a: Mass, b: Mass): void {
  if (a.singletons !== b.singletons)
    throw new RangeError(
      `the sources have frames of ${a.singletons} and ${b.singletons} singletons; both must have the same frame`,
    )
}
