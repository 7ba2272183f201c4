// The contract of an expression that is searched in texts of callers.

/** Takes time in proportion to the text: no text of a caller holds the event loop. */
export type TextSearch = { readonly isFoundIn: (text: string) => boolean }
