// Raises a signal about the run, once the tasks before it have succeeded.
import * as z from 'zod'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { max_tasks } from '../../../shared/assembled-dag/assembled-dag.ts'
import { severity } from '../../../shared/signal-cause/signal-subject.ts'
import { operator } from './operator.ts'

export const notify = operator({
  name: 'notify',
  summary: 'Raise a signal under the label of the run, once for each run',
  // It waits for them, and takes nothing of their datasets.
  inputs: { min: 0, max: max_tasks },
  makes_dataset: false,
  requests: 'intelligence',
  params: z.strictObject({
    title: requiredText(512),
    text: requiredText(3_500).optional().meta({ description: 'The run and the task are added to it' }),
    severity: severity.optional().meta({ description: 'Default: intake.notice.severity of the profile' }),
  }),
})
