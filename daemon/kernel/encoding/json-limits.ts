// The amounts that a JSON text may have: each costs a parser time that grows with it.

export type JsonLimits = {
  /** Levels of nesting. */
  readonly max_depth: number
  /** Values of any type, containers included (default: no limit). */
  readonly max_values?: number
  /** Different names of members in the whole text (default: no limit). Each costs a parser many times what a value does. */
  readonly max_names?: number
  /** Escapes in all strings, a pair of surrogates as one (default: no limit). A parser takes a string in one go. */
  readonly max_escapes?: number
}
