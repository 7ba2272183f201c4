// Reads a command such as `rollback_artifact(id=artifact_1, to_version=2)`: the form in which document 002 lists the inner tools.
import { parseJson } from '../../../../kernel/encoding/parse-json.ts'

/** Values are texts, numbers and truth values; `unnamed` ones belong to the fields of the tool in their order. */
export type ChatCommand = {
  readonly name: string
  readonly named: ReadonlyMap<string, unknown>
  readonly unnamed: readonly unknown[]
}

const max_characters = 4_096
const commandPattern = /^\s*([a-z][a-z0-9_]{0,63})\s*\(([^\n]*)\)\s*$/
const argumentPattern = /^\s*(?:([a-z][a-z0-9_]{0,63})\s*=\s*)?("(?:[^"\\\n]|\\[^\n])*"|[^\s",()=]+)\s*(?:,|$)/

/** Undefined for a message that is not a command. */
export function readCommand(message: string): ChatCommand | undefined {
  if (message.length > max_characters) return undefined
  const [, name, list = ''] = commandPattern.exec(message) ?? []
  if (name === undefined) return undefined
  const named = new Map<string, unknown>()
  const unnamed: unknown[] = []
  for (let rest = list; rest.trim() !== ''; ) {
    const [whole, key, raw = ''] = argumentPattern.exec(rest) ?? []
    if (whole === undefined) return undefined
    const value = parseJson(raw) ?? raw
    if (key === undefined) unnamed.push(value)
    else named.set(key, value)
    rest = rest.slice(whole.length)
  }
  return { name, named, unnamed }
}
