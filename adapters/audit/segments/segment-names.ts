// File extensions of open and sealed segments.
export const open_extension = '.open'
export const sealed_extension = '.lines'
