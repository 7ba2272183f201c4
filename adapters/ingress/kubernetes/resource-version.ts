// The order of the versions of one kind of object: decimal numbers, which Kubernetes promises since 1.35.

/** Also where one of them is not a number: then nothing is known, and the later arrival counts. */
export function isNewerVersion(version: string, known: string): boolean {
  const isNumber = (text: string) => /^[1-9][0-9]*$/.test(text)
  if (!isNumber(version) || !isNumber(known)) return true
  return version.length === known.length ? version > known : version.length > known.length
}
