// Private set intersection's one primitive: values become points that only the holder of a secret could have made.

/** A point as 32 bytes; many of them stand one after the other in one array. */
export const point_bytes = 32

/** The secret of one side for one run: 32 random bytes. A party that has it can guess at blinded values. */
export type BlindingSecret = Uint8Array

/**
 * Multiplications by two secrets commute: in either order of blinding, two sides get the same point for the same value, and
 * a party with neither secret cannot tell points from random ones (decisional Diffie-Hellman). Rejects with the signal's reason.
 */
export interface Blinding {
  /**
   * Hashes each value to the group, apart for each `domain`, and blinds it. The order of the points is that of the
   * values.
   */
  blindValues(
    domain: string,
    values: readonly string[],
    secret: BlindingSecret,
    signal: AbortSignal,
  ): Promise<Uint8Array>
  /**
   * Blinds points that the other side has blinded, and gives the first `tag_bytes` of the SHA-256 of each, apart for each
   * domain; undefined when one of them is not a point, or of low order.
   */
  tagPoints(
    domain: string,
    points: Uint8Array,
    secret: BlindingSecret,
    tag_bytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined>
}
