// Compares the desired state with what was observed: the steps that are left to do. Pure, so that the printed plan is what is applied.
import type { InstallationItem } from './installation-items.ts'

/** `foreign`: something that is not the installation's own stands there, and is not touched. */
export type ItemObservation =
  | { readonly state: 'same' }
  | { readonly state: 'absent' }
  | { readonly state: 'different'; readonly detail: string }
  | { readonly state: 'foreign'; readonly detail: string; readonly remedy: string }

export type ObservedItem = { readonly item: InstallationItem; readonly observation: ItemObservation }

/** A file of an earlier installation that this one does not have. */
export type FormerFile = { readonly path: string; readonly observation: ItemObservation }

export type InstallationStep = {
  readonly action: 'keep' | 'create' | 'change' | 'remove' | 'blocked'
  readonly description: string
  readonly detail: string | undefined
  readonly remedy: string | undefined
  /** Undefined for a removal. */
  readonly item: InstallationItem | undefined
  readonly path: string | undefined
}

export function planInstallation(observed: readonly ObservedItem[], former: readonly FormerFile[]): InstallationStep[] {
  return [...observed.map(planItem), ...former.flatMap(planRemoval)]
}

const actions = { same: 'keep', absent: 'create', different: 'change', foreign: 'blocked' } as const

function planItem({ item, observation }: ObservedItem): InstallationStep {
  return {
    action: actions[observation.state],
    description: describeItem(item),
    detail: 'detail' in observation ? observation.detail : undefined,
    remedy: 'remedy' in observation ? observation.remedy : undefined,
    item,
    path: 'path' in item ? item.path : undefined,
  }
}

/** A former file that somebody changed stays: it is not this program's any more. */
function planRemoval({ path, observation }: FormerFile): InstallationStep[] {
  if (observation.state !== 'same') return []
  return [
    {
      action: 'remove',
      description: `file ${path}`,
      detail: 'an earlier installation made it',
      remedy: undefined,
      item: undefined,
      path,
    },
  ]
}

function describeItem(item: InstallationItem): string {
  switch (item.kind) {
    case 'group':
      return `group ${item.name}`
    case 'user':
      return `user ${item.name} (group ${item.group}, no shell, no home)`
    case 'folder':
      return `folder ${item.path} (${formatMode(item.mode)} ${item.owner?.user ?? 'root'}:${item.owner?.group ?? 'root'})`
    case 'file':
    case 'copy':
      return `file ${item.path} (${formatMode(item.mode)})`
    case 'link':
      return `link ${item.path} -> ${item.target}`
    case 'site':
      return `site ${item.path}: platform init ${item.arguments.join(' ')}`
    case 'division':
      return `owners of ${item.path}: platform site divide`
    case 'service':
      return `service ${item.unit}: systemctl start`
  }
}

function formatMode(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

export function isDone(steps: readonly InstallationStep[]): boolean {
  return steps.every(({ action }) => action === 'keep')
}
