// A part of all the names of a list, so that no one call has to be about a hundred thousand.

/** All names after the one and up to the other, in the order of their UTF-8; without them, from the first and to the last. */
export type NameRange = { readonly after?: string | undefined; readonly upto?: string | undefined }

/** By name, in epoch milliseconds. */
export type FirstSeenTimes = ReadonlyMap<string, number>
