// Shortens a text for a field of limited length, such as the reason of a failure.

/** At most `max_length` UTF-16 units of valid Unicode; a longer text ends in an ellipsis. */
export function shortenText(text: string, max_length: number): string {
  if (text.length <= max_length) return text.toWellFormed()
  // A character outside the basic plane is kept or left out as a whole.
  return `${text
    .slice(0, max_length - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .toWellFormed()}…`
}
