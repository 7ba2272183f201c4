// The settings of a peer that people choose: at its enrolment, and later without touching its keys.
import { isDeepStrictEqual } from 'node:util'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { selectUsableKeys } from '../../kernel/cryptography/key-set.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { type Peer, peer as peerSchema } from '../../kernel/identity/peer.ts'
import { completeLabel, type Label } from '../../kernel/label/label.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { changePinnedPeer } from './change-pinned-peer.ts'
import { parseLabelMap } from './label-map-file.ts'

/** An undefined setting keeps its value, or has its default at an enrolment. */
export type PeerSettings = {
  readonly tenant_id?: string | undefined
  readonly ceiling_level?: string | undefined
  readonly categories?: readonly string[] | undefined
  readonly releasable_names?: readonly string[] | undefined
  /** Text of the label map file; see `parseLabelMap`. */
  readonly label_map?: string | undefined
  readonly threshold?: number | undefined
  readonly root_threshold?: number | undefined
  readonly not_after_days?: number | undefined
  readonly inventory_interval_s?: number | undefined
  readonly keep_days?: number | undefined
}

/** A setting with a default, which a person may return to. */
export type ResettableSetting = Exclude<keyof PeerSettings, 'tenant_id' | 'ceiling_level'>

/** The settings that decide what a key set says, once one is pinned. */
const keySetSettings = ['tenant_id', 'threshold', 'root_threshold'] as const

export type SiteSettings = Pick<ReturnType<typeof readSiteSettings>, 'platform' | 'labels'>

/**
 * The record with these settings. Throws `OfflineCommandError` (2) for a level that the profile does not have, and for
 * settings under which no message could pass. `now` in epoch milliseconds.
 */
export function applyPeerSettings(
  site: SiteSettings,
  record: Partial<Peer>,
  settings: PeerSettings,
  now: number,
): Peer {
  const { ceiling_level, categories, label_map, ...fields } = settings
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const validation = parseWithSchema(peerSchema, {
    ...record,
    ...given,
    ...(label_map === undefined ? {} : { label_map: parseLabelMap(label_map, site.labels) }),
    ceiling: chooseCeiling(site, record.ceiling, settings),
  })
  if (!validation.success)
    throw new OfflineCommandError(2, `the peer cannot be pinned: ${formatFieldErrors(validation.errors)}`)
  requireReachableThreshold(validation.data, settings, now)
  return validation.data
}

function chooseCeiling(
  { platform, labels }: SiteSettings,
  current: Label | undefined,
  { ceiling_level, categories }: PeerSettings,
): Label | undefined {
  if (current && ceiling_level === undefined && categories === undefined) return current
  const level = ceiling_level ?? current?.level ?? ''
  const chosen = { level, categories: [...(categories ?? current?.categories ?? [])] }
  const ceiling = completeLabel(chosen, labels, platform.tenant_id)
  if (ceiling) return ceiling
  throw new OfflineCommandError(2, `the profile has no level "${level}"; the levels are ${labels.levels.join(', ')}`)
}

/** Checks a threshold that is given: where keys of a peer are revoked later, its messages are refused on purpose. */
function requireReachableThreshold({ keys, threshold }: Peer, settings: PeerSettings, now: number): void {
  const usable = selectUsableKeys(keys, 'message', new Date(now).toISOString()).length
  if (settings.threshold === undefined || threshold <= usable) return
  throw new OfflineCommandError(
    2,
    `${threshold} message keys would have to sign, and ${usable} can: no message would pass`,
  )
}

/** `before` and `after`: the settings that differ. */
export type PeerChange = {
  readonly peer: Peer
  readonly before: Partial<Peer>
  readonly after: Partial<Peer>
}

/**
 * Changes settings of a pinned peer, and records the change before it counts. A running site judges a message by the
 * old or by the new settings, never by a mixture, and always finds the peer. Throws `OfflineCommandError`.
 */
export async function changePeerSettings(
  folder: SiteFolder,
  env: EnvironmentVariables,
  name: string,
  options: { readonly settings: PeerSettings; readonly reset: readonly ResettableSetting[]; readonly now: number },
): Promise<PeerChange> {
  const { settings, reset, now } = options
  const site = readSiteSettings(folder, env)
  let change: Pick<PeerChange, 'before' | 'after'> = { before: {}, after: {} }
  const peer = await changePinnedPeer(folder, name, async (current) => {
    requireOwnSettings(current, [...listGiven(settings), ...reset])
    const changed = applyPeerSettings(site, withoutSettings(current, reset), withDefaults(settings, reset), now)
    change = compareSettings(current, changed)
    if (Object.keys({ ...change.before, ...change.after }).length === 0) return current
    await recordOperatorAction(folder, env, { action: 'site.peer.set', target: name, detail: change })
    return changed
  })
  return { peer, ...change }
}

function listGiven(settings: PeerSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}

/** A key set names its tenant and its thresholds: a record that contradicts it could follow no later set. */
function requireOwnSettings({ name, key_set }: Peer, changed: readonly string[]): void {
  const fixed = key_set ? keySetSettings.filter((setting) => changed.includes(setting)) : []
  if (fixed.length === 0) return
  throw new OfflineCommandError(
    3,
    `the key set of ${name} sets ${fixed.join(', ')}; nothing was changed`,
    'the peer changes these with its next key set',
  )
}

/** Categories are part of the ceiling, so their default is set and not left out. */
function withDefaults(settings: PeerSettings, reset: readonly ResettableSetting[]): PeerSettings {
  return reset.includes('categories') ? { ...settings, categories: [] } : settings
}

function withoutSettings(peer: Peer, reset: readonly ResettableSetting[]): Partial<Peer> {
  return Object.fromEntries(Object.entries(peer).filter(([field]) => !reset.some((setting) => setting === field)))
}

function compareSettings(from: Peer, to: Peer): Pick<PeerChange, 'before' | 'after'> {
  const pick = (one: Peer, other: Peer): Partial<Peer> =>
    Object.fromEntries(
      Object.entries(one).filter(([field, value]) => !isDeepStrictEqual(value, other[field as keyof Peer])),
    )
  return { before: pick(from, to), after: pick(to, from) }
}
