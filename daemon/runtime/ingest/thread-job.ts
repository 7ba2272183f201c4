// The input of the thread that performs a task.
import type { TaskWork } from '../../roles/ingest/parts.ts'

export type TaskThreadJob = TaskWork & {
  /** Folder of landed datasets. */
  readonly datasets: string
  readonly data_folder: string | undefined
}
