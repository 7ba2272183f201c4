// A source of a run: the records of one node, and where they are.
import * as z from 'zod'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { taskDataset } from '../../../shared/task-dataset/task-dataset.ts'
import { count, shortText } from '../fields.ts'

export const runSource = z
  .strictObject({
    node_id: shortText,
    file: shortText.optional().meta({ description: 'Name of the data file' }),
    dataset: taskDataset
      .extend({
        name: requiredText(512),
        digest: z.string().length(64).meta({ description: 'SHA-256 of its description' }),
      })
      .optional()
      .meta({
        description: 'The dataset of a pipeline; without one and without a file, the records were in the request',
      }),
    records: count.optional(),
    columns: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Column that each field is read from, by field' }),
  })
  .meta({ id: 'RunSource' })
export type RunSource = z.infer<typeof runSource>
