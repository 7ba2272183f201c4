// Names of the ways by which the engine finds pairs without a key.

/** Pairs that no rule found: the engine completes clusters, so that all records of an entity are compared. */
export const unblocked = 'other records of the same entity'

/** Nearest neighbours by the words of the records. */
export const nearestTexts = 'nearest texts'
