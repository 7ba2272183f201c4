// A range of names, so that no single call handles a hundred thousand of them.

/** Names after `after` and up to `upto`, in the order of their UTF-8; without these, from the first and to the last. */
export type NameRange = { readonly after?: string | undefined; readonly upto?: string | undefined }

/** Time of the first sighting, by name, in epoch milliseconds. */
export type FirstSeenTimes = ReadonlyMap<string, number>
