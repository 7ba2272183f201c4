// Altered documents that the product and the Python script judge differently, each with the reason why that is right.

type Disagreement = {
  /** As the differential test names it. */
  readonly document: string
  readonly reason: string
}

/** An entry whose disagreement is gone fails the test as well. */
export const disagreements: readonly Disagreement[] = []
