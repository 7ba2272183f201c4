// Verifies an evidence block from its file, on any machine, without a site or a network.
import { offline } from '../../../daemon/offline/offline.ts'
import { max_key_set_bytes, readInputFile } from '../../file/input-file.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { nameList, required, text } from '../../program/params.ts'
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
  words: 'evidence verify',
  summary: 'Verify an evidence block offline',
  notes: [
    'Checks the signature over the content, that the result follows from the contributions, that the decision',
    'follows from the result, and each quoted message. Exit code 5: a check failed, or no key of the site is trusted.',
    'Without --keys anybody can make a block that passes: the verdict is then "integrity only". Name further keys to',
    'check contributions: --keys alpha-keys.json,bravo=bravo-keys.json,ann=ann-key.json.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Evidence block, from `platform evidence show --out`')) },
  options: {
    keys: nameList('[NAME=]FILE,...', 'JWKS or key set of the site, or of the named site or contributor'),
    ...jsonOption,
  },
  example: 'platform evidence verify evidence.json --keys alpha-keys.json,bravo=bravo-keys.json',
  async run({ file, keys, json }, terminal) {
    const { readTrustedKeys, verifyEvidence } = await offline.evidence()
    const files = keys.map(splitKeysOption)
    const trusted = await Promise.all(
      files.map(({ name, path }) => readTrustedKeys(name, readInputFile(path, max_key_set_bytes))),
    )
    const found = await verifyEvidence(readInputFile(file), trusted)
    printResult(terminal, json, found, () => formatVerdict(terminal, found))
    if (found.verdict === 'integrity_only')
      terminal.note('signed by a key in the block itself, as anybody could: name the keys of the site with --keys')
    return found.valid ? 0 : 5
  },
})

/** `bravo=bravo.json` are the keys of bravo, `alpha.json` and `./a=b.json` those of the site that signed the block. */
function splitKeysOption(value: string): { readonly name: string | undefined; readonly path: string } {
  const [, name, path] = /^([^=/\\]+)=(.+)$/.exec(value) ?? []
  return path === undefined ? { name: undefined, path: value } : { name, path }
}

type Verdict = Awaited<ReturnType<Awaited<ReturnType<typeof offline.evidence>>['verifyEvidence']>>

const verdictTexts = { valid: 'valid', integrity_only: 'integrity only: its signer is not verified' }

function formatVerdict(terminal: Terminal, found: Verdict): string {
  const { verdict, faults, signed_by, block_id, version, site, session_id, decision, score, decided_at } = found
  const fields = formatFields(terminal, {
    verdict:
      verdict === 'invalid'
        ? colourText(terminal, 'red', faults.join('; '))
        : colourText(terminal, verdict === 'valid' ? 'green' : 'yellow', verdictTexts[verdict]),
    block_id,
    version,
    site,
    session_id,
    decision,
    score,
    decided_at,
    signed_by: signed_by.map(({ kid }) => kid).join(', ') || undefined,
    fingerprint: signed_by.map(({ fingerprint }) => fingerprint).join(', ') || undefined,
    record:
      found.chain === 'checked' ? undefined : 'its chain is not checked: the block does not list the whole record',
  })
  const rows = found.contributions.map((each) => ({ ...each, vouched_by: describeVoucher(each, site) }))
  return [fields, '', formatTable(terminal, rows as readonly OutputRow[], columns, 'no contributions')].join(line_break)
}

const columns = ['contributor_id', 'vouched_by']

/** Says whose signature stands for a contribution, and what is missing where it is the origin's alone. */
function describeVoucher({ vouched_by, signer, keys }: Verdict['contributions'][number], site: string): string {
  if (signer === undefined) return `${site} alone`
  if (vouched_by === 'origin') return `${site} alone; signed in the name of ${signer}, whose keys were not given`
  return `${signer} (${keys.map(({ kid, fingerprint }) => `${kid}, ${fingerprint}`).join('; ')})`
}
