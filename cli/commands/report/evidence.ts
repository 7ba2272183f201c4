// Writes the report of an evidence block as one page of HTML.
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { reportOption } from '../../options/report-option.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { findTrustedKeys, trustedKeysOption } from '../../options/trusted-keys.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'report evidence',
  summary: 'Write the report of an evidence block as one HTML page',
  notes: [
    'The page has the verdict, the scores with the thresholds, the weight of each contributor, the conflict with and',
    'without each of them, who vouches for what, and the lineage. It needs no network and no script. Keys are those of',
    '`platform evidence verify`. Exit code 5: the block does not hold; its report is written all the same.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Evidence block, from `platform evidence show --out`')) },
  options: { ...reportOption, ...trustedKeysOption, ...siteOption, ...jsonOption },
  example: 'platform report evidence evidence.json --out evidence.html --keys alpha-keys.json',
  async run({ file, out, keys, json, site }, terminal) {
    const { writeEvidenceReport } = await offline.evidenceReport()
    const text = readInputFile(file)
    const { trusted, source } = await findTrustedKeys(keys, site, terminal)
    const written = await writeEvidenceReport({ text, trusted, source, out })
    printResult(terminal, json, written, () => written.file)
    return written.verdict === 'invalid' ? 5 : 0
  },
})
