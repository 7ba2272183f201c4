// Verifies the file of a set of artifacts offline, and shows what it holds.
import { offline } from '../../../daemon/offline/offline.ts'
import { max_key_set_bytes, readInputFile } from '../../file/input-file.ts'
import { findOptionalSite, jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import {
  colourText,
  formatFields,
  formatTable,
  line_break,
  type OutputRow,
  printResult,
} from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'guide verify',
  summary: 'Verify the file of a set of artifacts offline, and show what it holds',
  notes: [
    'Checks form, digests and signature: by the keys that this site has pinned, or by those of --keys alone. Exit code 5:',
    'a check failed, or no key of the signer is trusted.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Set from `platform guide export`')) },
  options: {
    keys: text('FILE', 'JWKS or key set of the site that made the set (default: keys pinned at this site)'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform guide verify /media/stick/guidance.set',
  async run({ file, keys, json, site }, terminal) {
    const { verifySetFile } = await offline.guidanceSets()
    const set = readInputFile(file)
    const found = await verifySetFile(set, await findKeys(set, keys, site, terminal))
    printResult(terminal, json, found, () => formatVerdict(terminal, found))
    return found.valid ? 0 : 5
  },
})

async function findKeys(set: string, keys: string | undefined, site: string | undefined, terminal: Terminal) {
  const { findSetKeys, readSetKeys } = await offline.guidanceSets()
  if (keys !== undefined) return await readSetKeys(readInputFile(keys, max_key_set_bytes))
  const folder = findOptionalSite({ site }, terminal)
  return folder ? await findSetKeys(folder, terminal.env, set) : { keys: [] }
}

type SetFileVerdict = Awaited<ReturnType<Awaited<ReturnType<typeof offline.guidanceSets>>['verifySetFile']>>

function formatVerdict(terminal: Terminal, found: SetFileVerdict): string {
  const { valid, fault, artifacts, signed_by, label, ...fields } = found
  const verdict = valid ? colourText(terminal, 'green', 'valid') : colourText(terminal, 'red', fault ?? 'invalid')
  const signers = signed_by.map(({ kid, fingerprint }) => `${kid}, ${fingerprint}`).join('; ')
  const head = formatFields(terminal, { verdict, ...fields, level: label.level, signed_by: signers || undefined })
  const rows = artifacts.map(({ marks, ...row }) => ({ ...row, marks: marks.join(', ') }))
  const columns = ['number', 'type', 'level', 'version', 'marks', 'rationale']
  return [head, '', formatTable(terminal, rows as readonly OutputRow[], columns, 'no artifacts')].join(line_break)
}
