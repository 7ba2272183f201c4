// How a segment is called while it is written to, and from when it is whole.
export const open_extension = '.open'
export const sealed_extension = '.lines'
