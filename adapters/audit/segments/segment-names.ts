// How a segment is called while it is written to, and from when it is whole.
export const openEnding = '.open'
export const sealedEnding = '.lines'
