// Whether a text of a model repeats what a person or a tool has written: that belongs to one conversation, and is not passed on.

/** Every run of `run_characters` has one of these windows in it, whatever place it begins at. */
const window_characters = 24
const step = 8
/** Shorter ones are names and common words. */
const run_characters = window_characters + step

const normalise = (text: string) => text.toLowerCase().replaceAll(/\s+/g, ' ')

/** The cost is bounded by both lengths, which their owners bound. */
export function repeatsSource(text: string, source: string): boolean {
  const [written, known] = [normalise(text), normalise(source)]
  for (let at = 0; at + window_characters <= written.length; at += step)
    if (written.length >= run_characters && known.includes(written.slice(at, at + window_characters))) return true
  return false
}
