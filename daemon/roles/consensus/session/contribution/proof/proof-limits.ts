// How large a proof may be, so that the evidence of a session fits into the body of one message.

/**
 * A contribution message of an invited peer, as envelope and body together. A message with one ML-DSA-87 signature and an
 * ordinary label takes 9 KiB, each further signature 6.3 KiB: five fit.
 */
export const max_message_proof_bytes = 40 * 1_024

/**
 * The part of a body of 4 MiB that proofs may fill. The other MiB holds a thousand quoted contributions (600 bytes each),
 * a thousand digests of superseded ones (90 bytes each) and 64 public keys of the origin (3.7 KiB each with ML-DSA-87).
 */
const proof_budget_bytes = 3 * 1_048_576

/** The signature of one local contributor: an equal share of what the messages of 64 invited peers at most leave. */
export function maxSignatureProofBytes(contributors: number, invited: number): number {
  return Math.floor((proof_budget_bytes - invited * max_message_proof_bytes) / contributors)
}
