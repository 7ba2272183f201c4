// Verifies an evidence block from its file, on any machine, by the keys of a site or by those given.
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { findTrustedKeys, trustedKeysOption } from '../../options/trusted-keys.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
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
    'follows from the result, and each quoted message: by the keys that this site has pinned, or by those of',
    '--keys alone: --keys alpha-keys.json,bravo=bravo-keys.json,ann=ann-key.json. Exit code 5: a check failed, or',
    'no key of the signer is trusted; anybody can make a block that is "integrity only".',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Evidence block, from `platform evidence show --out`')) },
  options: {
    ...trustedKeysOption,
    unvouched: flag('Succeed for a block of a signer whose keys are not trusted, if its content is sound'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform evidence verify evidence.json --keys alpha-keys.json,bravo=bravo-keys.json',
  async run({ file, keys, unvouched, json, site }, terminal) {
    const { verifyEvidence } = await offline.evidence()
    const block = readInputFile(file)
    const { trusted, source, ownSite } = await findTrustedKeys(keys, site, terminal)
    const found = await verifyEvidence(block, trusted, source)
    printResult(terminal, json, found, () => formatVerdict(terminal, found))
    if (found.verdict === 'integrity_only') {
      const remedy = `name the keys of ${found.site} with --keys`
      if (ownSite) terminal.note(`${found.site} is neither this site nor a pinned peer: ${remedy}`)
      else terminal.note(`signed by a key in the block itself, as anybody could: ${remedy}, or a site with --site`)
    }
    return found.valid || (unvouched && found.verdict === 'integrity_only') ? 0 : 5
  },
})

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
    supersedes: listRelated(found, 'supersedes'),
    rests_on: listRelated(found, 'rests_on'),
    record:
      found.chain === 'checked' ? undefined : 'its chain is not checked: the block does not list the whole record',
  })
  const rows = found.contributions.map((each) => ({ ...each, vouched_by: describeVoucher(each, site) }))
  return [fields, '', formatTable(terminal, rows as readonly OutputRow[], columns, 'no contributions')].join(line_break)
}

function listRelated({ lineage }: Verdict, relation: Verdict['lineage'][number]['relation']): string | undefined {
  return lineage.flatMap((each) => (each.relation === relation ? each.block_id : [])).join(', ') || undefined
}

const columns = ['contributor_id', 'vouched_by']

/** Says whose signature stands for a contribution, and what is missing where it is the origin's alone. */
function describeVoucher({ vouched_by, signer, keys }: Verdict['contributions'][number], site: string): string {
  if (signer === undefined) return `${site} alone`
  if (vouched_by === 'origin') return `${site} alone; signed in the name of ${signer}, whose keys were not given`
  return `${signer} (${keys.map(({ kid, fingerprint }) => `${kid}, ${fingerprint}`).join('; ')})`
}
