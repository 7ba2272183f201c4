// The settings of a peer as options, which its enrolment and a later change take alike.
import { readInputFile } from '../file/input-file.ts'
import type { ParsedParams } from '../program/command.ts'
import { duration, integer, nameList, text } from '../program/params.ts'

export const peerSettingOptions = {
  tenant: text('TENANT', 'Tenant of the peer'),
  ceiling: text('LEVEL', 'Highest level that may cross, in both directions'),
  categories: nameList('A,B', 'Categories that may cross (default: none)'),
  releasableNames: nameList('A,B', 'Nationalities that the peer counts as, besides its tenant (default: none)'),
  labelMap: text('FILE', 'JSON file that maps the peer’s labels to local ones (default: accept only local labels)'),
  threshold: integer('COUNT', 'Distinct keys that must sign a message; not with a key set (default: 1)', 1, 16),
  rootThreshold: integer('COUNT', 'Distinct root keys that must sign its first key set (default: 1)', 1, 16),
  freshDays: integer('DAYS', 'Days for which a message stays fresh (default: 7; couriers: 90)', 1, 365),
  inventoryInterval: duration('TIME', 'Interval between inventories (default: 5 minutes)'),
  keepDays: integer('DAYS', 'Days for which files of sent and applied messages are kept (default: 30)', 1, 3_650),
}

/** The settings of these options; undefined where an option is absent. */
export function readPeerSettings(params: ParsedParams<typeof peerSettingOptions>) {
  const { categories, releasableNames, labelMap } = params
  return {
    tenant_id: params.tenant,
    ceiling_level: params.ceiling,
    categories: categories.length > 0 ? categories : undefined,
    releasable_names: releasableNames.length > 0 ? releasableNames : undefined,
    label_map: labelMap === undefined ? undefined : readInputFile(labelMap),
    threshold: params.threshold,
    root_threshold: params.rootThreshold,
    not_after_days: params.freshDays,
    inventory_interval_s: params.inventoryInterval,
    keep_days: params.keepDays,
  }
}
