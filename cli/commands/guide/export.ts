// Exports artifacts of the guidance layer for another site, as a file that a person carries.
import { writeOutputFile } from '../../file/output-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, nameList, required, text } from '../../program/params.ts'
import { formatFields, formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide export',
  summary: 'Export active artifacts for another site, signed by this one',
  notes: [
    'The file holds what was learnt: no observations, traces, names of users or vectors. An artifact whose content has',
    'such text stays, and so does one whose label does not release it to the peer; --release releases those of this',
    'tenant, which the audit log records. The file is not encrypted: carry it according to its label.',
  ].join('\n'),
  options: {
    to: required(text('PEER', 'Site that the set is for')),
    out: required(text('FILE', 'File to create')),
    type: nameList('TYPE,...', 'Types of artifacts (default: all that callers use)'),
    id: nameList('ID,...', 'Artifacts (default: all)'),
    labelCeiling: text('LEVEL', 'Highest level of an artifact (default: the ceiling of the peer)'),
    release: flag('Release artifacts of this tenant to the peer'),
    ...serviceOptions,
  },
  example: 'platform guide export --to bravo --release --out guidance.set',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { to, out, type, id, labelCeiling: label_ceiling, release } = params
    const answer = await api.call('gateway.guide.set.export', {
      ...{ to, release, ...(label_ceiling === undefined ? {} : { label_ceiling }) },
      ...(type.length > 0 ? { types: type } : {}),
      ...(id.length > 0 ? { ids: id } : {}),
    })
    const { file, left_out, ...fields } = answer
    writeOutputFile(out, String(file))
    printResult(terminal, params.json, { ...fields, left_out }, () => formatFields(terminal, { file: out, ...fields }))
    const rows = left_out as readonly OutputRow[]
    if (!params.json && rows.length > 0) terminal.note(formatTable(terminal, rows, ['id', 'reason'], ''))
    return 0
  },
})
