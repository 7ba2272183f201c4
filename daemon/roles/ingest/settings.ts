// Settings of the ingest role.
import * as z from 'zod'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'PIPELINE', port: 8_008 }

export const settings = settingsBlock('ingest', {
  ...serviceListenerFields(listener),
  ...traceFields('PIPELINE'),
  ...toolFields('PIPELINE'),
  data_folder: z.string().min(1).max(4_096).optional().meta({
    env: 'PIPELINE_DATA_FOLDER',
    doc: 'Folder with files for pipelines, in one sub-folder for each tenant, named after it; absent: pipelines read no files.',
  }),
  runs_at_once: z.int().min(1).max(64).default(2).meta({
    doc: 'Runs of the embedded scheduler that a process performs at a time.',
  }),
  runs_at_once_per_tenant: z.int().min(1).max(64).default(2).meta({ doc: 'Those of one tenant among them.' }),
  task_memory_mb: z.int().min(64).max(16_384).default(512).meta({ doc: 'Maximum memory of a task, in MB.' }),
})
