// Mass functions on any small frame, whose masses neither underflow nor overflow however many sources are combined.

/**
 * A mass function over the subsets of a frame of up to eight singletons; a subset is a bitmask. The mass of subset A
 * is `mantissa[A] * 2^(960 * exponent[A])`, with the mantissa 0 or in [2^-480, 2^480). Source of the representation:
 * T. Fukushima, "Numerical computation of spherical harmonics of arbitrary degree and order by extending exponent of
 * floating point numbers", J. Geodesy 86 (2012). A plain double would forget after some 300 contrary sources that a
 * subset was ever possible, and report a false total conflict.
 */
export type Mass = {
  readonly singletons: number
  readonly mantissa: Float64Array
  readonly exponent: Int32Array
}

/** A bitmask over the singletons of a frame. */
export type FrameSubset = number

const singletonsMax = 8

const RADIX = 2 ** 960
const HIGH = 2 ** 480
const LOW = 2 ** -480

/** All masses zero: an accumulator, not yet a mass function. */
export function zeroMass(singletons: number): Mass {
  if (!Number.isInteger(singletons) || singletons < 1 || singletons > singletonsMax) {
    throw new RangeError(`a frame has 1 to ${singletonsMax} singletons`)
  }
  const subsets = 2 ** singletons
  return { singletons, mantissa: new Float64Array(subsets), exponent: new Int32Array(subsets) }
}

/** Total ignorance: all mass on the whole frame. The neutral element of Dempster's rule. */
export function vacuous(singletons: number): Mass {
  const mass = zeroMass(singletons)
  addMass(mass, wholeFrame(mass), 1, 0)
  return mass
}

/** Adds `value * 2^(960 * exponent)` to a subset, for a value below 2^960. */
export function addMass(mass: Mass, subset: FrameSubset, value: number, exponent: number): void {
  const sum = (mass.mantissa[subset] as number) + value
  // The common case. Where the mass is still zero its exponent is meaningless, and an equal one is correct.
  if (value >= LOW && sum < HIGH && mass.exponent[subset] === exponent) mass.mantissa[subset] = sum
  else if (value !== 0) addAcrossExponents(mass, subset, value, exponent)
}

function addAcrossExponents(mass: Mass, subset: FrameSubset, value: number, exponent: number): void {
  if (value < LOW) {
    value *= RADIX
    exponent -= 1
  }
  const current = mass.mantissa[subset] as number
  if (current !== 0) {
    const above = exponent - (mass.exponent[subset] as number)
    // Two steps of 2^960 apart, the smaller one is below the last bit of the larger.
    if (above < -1) return
    if (above === 0) value += current
    else if (above === 1) value += current / RADIX
    else if (above === -1) {
      value = current + value / RADIX
      exponent += 1
    }
  }
  const tooHigh = value >= HIGH
  mass.mantissa[subset] = tooHigh ? value / RADIX : value
  mass.exponent[subset] = tooHigh ? exponent + 1 : exponent
}

/** Divides the mass of a subset by `divisor * 2^(960 * exponent)`, the divisor a mantissa. */
export function divideMass(mass: Mass, subset: FrameSubset, divisor: number, exponent: number): void {
  const share = (mass.mantissa[subset] as number) / divisor
  if (exponent === 0 && share >= LOW && share < HIGH) {
    mass.mantissa[subset] = share
    return
  }
  const shareExponent = (mass.exponent[subset] as number) - exponent
  mass.mantissa[subset] = 0
  mass.exponent[subset] = 0
  addMass(mass, subset, share, shareExponent)
}

/** A loop, because `fill` costs more on arrays this small. */
export function clearMass(mass: Mass): void {
  for (let subset = 0; subset < mass.mantissa.length; subset++) {
    mass.mantissa[subset] = 0
    mass.exponent[subset] = 0
  }
}

/** The mass of a subset as a plain number: zero where it is below what a double can hold. */
export function massAt(mass: Mass, subset: FrameSubset): number {
  const mantissa = mass.mantissa[subset] ?? 0
  const exponent = mass.exponent[subset] ?? 0
  return exponent === 0 ? mantissa : mantissa * RADIX ** exponent
}

/** Belief: the total mass of the subset's parts. */
export function belief(mass: Mass, subset: FrameSubset): number {
  return sumMasses(mass, (focal) => ((focal & ~subset) === 0 ? 1 : 0))
}

/** Plausibility: the total mass of all subsets that intersect it. */
export function plausibility(mass: Mass, subset: FrameSubset): number {
  return sumMasses(mass, (focal) => ((focal & subset) !== 0 ? 1 : 0))
}

/** Pignistic probability (Smets): each focal subset shares its mass evenly among its singletons. */
export function pignistic(mass: Mass, subset: FrameSubset): number {
  return sumMasses(mass, (focal) => sizeOf(focal & subset) / sizeOf(focal))
}

export function wholeFrame(mass: Mass): FrameSubset {
  return mass.mantissa.length - 1
}

function sumMasses(mass: Mass, share: (focal: FrameSubset) => number): number {
  let sum = 0
  for (let focal = 1; focal < mass.mantissa.length; focal++) {
    const value = massAt(mass, focal)
    if (value !== 0) sum += value * share(focal)
  }
  // Masses sum to one up to the last bit.
  return Math.min(1, sum)
}

function sizeOf(subset: FrameSubset): number {
  let size = 0
  for (let rest = subset; rest !== 0; rest &= rest - 1) size++
  return size
}
