// Options that name values of fields of a lens: `--field surname=Smith`.
import { CommandFailure } from '../program/command.ts'

/** Throws `CommandFailure` (2) for a word without `=`, and for a field that is named twice. */
export function parseFieldValues(words: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {}
  for (const word of words) {
    const at = word.indexOf('=')
    const [name, value] = [word.slice(0, at).trim(), word.slice(at + 1).trim()]
    if (at < 1 || name === '' || value === '')
      throw new CommandFailure(2, `--field ${word} must be FIELD=VALUE, such as surname=Smith`)
    if (Object.hasOwn(values, name)) throw new CommandFailure(2, `--field names ${name} twice: name each field once`)
    values[name] = value
  }
  return values
}
