// Imports a snapshot of another site's registry, for a site that only looks records up.
import { resolve } from 'node:path'
import { offline } from '../../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve registry import',
  summary: 'Import a snapshot of another site’s registry for lookups',
  notes: [
    'Needs resolution.matching_pattern: lookup_only in the profile. The snapshot must be complete, signed for',
    'this site by a pinned peer, and newer than the current one; otherwise nothing changes. A running service',
    'uses it from then on. Exit code 5: the snapshot does not verify.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Snapshot from `platform resolve registry export` at the other site')) },
  options: {
    instead: flag('Replace the snapshot of this lens from another site'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform resolve registry import /media/stick/persons.snapshot',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const { importRegistrySnapshot } = await offline.registrySnapshot()
    const request = { file: resolve(params.file), isInstead: params.instead, now: Date.now() }
    const { manifest, isNew } = await importRegistrySnapshot(folder, terminal.env, request)
    const { from, lens, lens_version, version, made_at, records, entities } = manifest
    const summary = { from, lens, lens_version, version, made_at, records, entities, is_new: isNew }
    printResult(terminal, params.json, summary, () => formatFields(terminal, summary))
    if (!isNew) terminal.note('this snapshot was imported already')
    return 0
  },
})
