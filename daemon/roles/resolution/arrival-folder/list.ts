// Lists the folders of the profile in which records arrive, and what lies there.
import * as z from 'zod'
import { completeLabel, dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { count, instant, shortText } from '../fields.ts'
import { settings } from '../settings.ts'
import type { ArrivalFolder } from './folder-setting.ts'
import { watchedFoldersPart } from './watched-folder.ts'

const max_listed_files = 20

const folderView = z
  .strictObject({
    name: shortText,
    tenant_id: shortText,
    lens: z.string(),
    node_id: shortText,
    state: z.enum(['ok', 'held_up', 'unknown']).meta({
      description: 'held_up: files wait for the reason in detail; unknown: not looked at since the start',
    }),
    detail: z.string(),
    scanned_at: instant.optional(),
    reading: z
      .string()
      .optional()
      .meta({ description: 'Claim of the file whose records are being registered: its name with a random end' }),
    waiting: count.meta({ description: 'Files that are not taken yet' }),
    waiting_files: z.array(z.string()).meta({ description: 'The first of them' }),
    left: count.meta({ description: 'Entries that cannot be taken and stay where they are' }),
    left_files: z.array(z.strictObject({ name: z.string(), reason: z.string() })).meta({
      description: 'The first of them, with the reason',
    }),
  })
  .meta({ id: 'ArrivalFolder' })

export const list = operation({
  summary: 'List the folders in which records arrive, with the files that wait or cannot be taken',
  method: 'GET',
  path: '/api/v2/arrival_folder',
  input: z.strictObject({}),
  output: wholeListSchema(folderView).meta({ id: 'ArrivalFolderList' }),
  errors: [],
  allow: 'resolution:operate',

  async run(call) {
    const { caller, site } = call
    const { statuses } = call.part(watchedFoldersPart)
    const own = call
      .settings(settings)
      .arrival_folders.map((folder) => ({ ...folder, tenant_id: folder.tenant_id ?? site.tenant_id }))
      .filter(({ tenant_id }) => caller.tenant_id === '*' || caller.tenant_id === tenant_id)
      .filter((folder) => mayKnow(call, folder))
    return wholeList(
      own.map(({ name, tenant_id, lens, node_id }) => {
        const { scan, taken = 0, held_up, scanned_at, reading } = statuses.get(name) ?? {}
        const state = held_up !== undefined ? 'held_up' : scan ? 'ok' : 'unknown'
        return {
          ...{ name, tenant_id, lens, node_id, state: state as 'ok' | 'held_up' | 'unknown', detail: held_up ?? '' },
          ...(scanned_at === undefined ? {} : { scanned_at }),
          ...(reading === undefined ? {} : { reading }),
          waiting: (scan?.waiting.length ?? 0) - taken,
          waiting_files: scan?.waiting.slice(taken, taken + max_listed_files) ?? [],
          left: scan?.left_count ?? 0,
          left_files: scan?.left.slice(0, max_listed_files) ?? [],
        }
      }),
    )
  },
})

/** Names of files are under the label of their records. */
function mayKnow(
  { caller, site }: Call,
  { tenant_id, classification }: ArrivalFolder & { tenant_id: string },
): boolean {
  if (caller.tenant_id === '*') return true
  const label = completeLabel(classification ?? site.default_level, site.labels, tenant_id)
  return label !== undefined && dominates(caller, label, site.labels)
}
