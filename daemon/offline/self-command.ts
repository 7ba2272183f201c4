// The command that starts this program again: the packaged executable is a command by itself, the sources need their entry file.
import { isSea } from 'node:sea'

/** Program and leading arguments; the words of a command follow them. */
export function selfCommand(): readonly [string, ...string[]] {
  const entry = process.argv[1]
  return isSea() || entry === undefined ? [process.execPath] : [process.execPath, entry]
}
