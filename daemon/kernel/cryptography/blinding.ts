// The primitive of private set intersection: turns values into points that only the holder of a secret can compute.

/** Length of a point. Several points are concatenated in one array. */
export const point_bytes = 32

/** The secret of one side for one run: 32 random bytes. A party that holds it can test guesses of blinded values. */
export type BlindingSecret = Uint8Array

/**
 * Multiplications by two secrets commute: in either order of blinding, two sides get the same point for the same value, and
 * a party with neither secret cannot tell points from random ones (decisional Diffie-Hellman). Rejects with the signal's reason.
 */
export interface Blinding {
  /**
   * Hashes each value to the group, with domain separation by `domain`, and blinds it. Points keep the order of the
   * values.
   */
  blindValues(
    domain: string,
    values: readonly string[],
    secret: BlindingSecret,
    signal: AbortSignal,
  ): Promise<Uint8Array>
  /**
   * Blinds points that the other side has blinded, and returns the first `tag_bytes` of the SHA-256 of each, with
   * domain separation. Undefined when an input is not a point, or is a point of low order.
   */
  tagPoints(
    domain: string,
    points: Uint8Array,
    secret: BlindingSecret,
    tag_bytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined>
}
