// Lines of JSON text for people who look for a fault in it: of a field, or of what is not JSON.
import { locateFlaw } from '../../kernel/encoding/locate-flaw.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'

/** As `parseJson` has it. */
const max_depth = 128

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** An open container: its path, and the index of its current value or undefined for an object. */
type OpenField = { readonly path: string; at: number | undefined }

/**
 * 1-based line of the field at a path such as `tasks.0.params`, or else of the closest one around it that the text has. The text
 * is JSON.
 */
export function findJsonLine(text: string, path: string): number {
  let best = { path: '', offset: text.search(/\S/) }
  const enter = (field: string, offset: number) => {
    if ((path === field || path.startsWith(`${field}.`)) && field.length > best.path.length)
      best = { path: field, offset }
  }
  const open: OpenField[] = []
  let name: string | undefined
  const fieldHere = () => {
    const around = open.at(-1)
    if (!around) return ''
    return around.path === '' ? `${around.at ?? name}` : `${around.path}.${around.at ?? name}`
  }
  const all = [...text.matchAll(tokens)]
  for (const [at, { 0: token, index }] of all.entries()) {
    const around = open.at(-1)
    const isName = around !== undefined && around.at === undefined && all[at + 1]?.[0] === ':'
    if (isName) {
      name = parseJson(token) as string
      enter(fieldHere(), index)
    } else if (token === ',') {
      if (around?.at !== undefined) around.at += 1
    } else if (token === '}' || token === ']') open.pop()
    else if (token !== ':') {
      if (around?.at !== undefined) enter(fieldHere(), index)
      if (token === '{' || token === '[') open.push({ path: fieldHere(), at: token === '[' ? 0 : undefined })
    }
  }
  return lineAt(text, best.offset)
}

/** Why a text is not JSON, with its 1-based line; undefined for JSON. */
export function findJsonFlaw(text: string): { readonly reason: string; readonly line: number } | undefined {
  const flaw = locateFlaw(text, { max_depth })
  return flaw && { reason: flaw.detail, line: lineAt(text, Math.min(flaw.offset, text.trimEnd().length)) }
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, Math.max(0, offset)).split('\n').length
}
