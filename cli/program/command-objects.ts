// The objects that commands name by id: the positional parameter of the id, its field in the API, and how to print one.
import { formatEffect } from '../format/effect.ts'
import { formatFusionRun } from '../format/fusion-run.ts'
import { formatArtifact, formatMemory } from '../format/guide.ts'
import { formatInsight, formatSignal } from '../format/signal.ts'
import { formatBulk } from '../format/signal-bulk.ts'
import { formatSilence } from '../format/silence.ts'
import { required, text } from './params.ts'

export const commandObjects = {
  signal: { id: required(text('SIGNAL', 'ID of the signal')), id_field: 'uid', format: formatSignal },
  insight: { id: required(text('INSIGHT', 'ID of the insight')), id_field: 'uid', format: formatInsight },
  silence: { id: required(text('SILENCE', 'ID of the silence')), id_field: 'uid', format: formatSilence },
  bulk: { id: required(text('BULK', 'ID of the bulk disposition')), id_field: 'uid', format: formatBulk },
  effect: { id: required(text('EFFECT', 'ID of the effect')), id_field: 'uid', format: formatEffect },
  artifact: { id: required(text('ARTIFACT', 'ID of the artifact')), id_field: 'id', format: formatArtifact },
  memory: { id: required(text('MEMORY', 'ID of the observation')), id_field: 'id', format: formatMemory },
  run: { id: required(text('RUN', 'ID of the run')), id_field: 'run_id', format: formatFusionRun },
} as const

export type CommandObjectKind = keyof typeof commandObjects
