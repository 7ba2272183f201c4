// Shared parts of the intake tests: a source's mapping, secrets in files, and a sender that signs as senders do.
import { createHmac } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { list } from '../../../daemon/roles/intelligence/signal/list.ts'
import type { Signal } from '../../../daemon/roles/intelligence/signal/model.ts'
import { list as sources } from '../../../daemon/roles/intelligence/signal-source/list.ts'
import type { TestSite } from '../../support/site/test-site.ts'

/** As a detector might say it. */
export const sampleMapping = {
  id: '/alert/id',
  signal_type: { value: 'siem_alert' },
  severity: { at: '/alert/level', values: { '1': 'low', '2': 'high' }, otherwise: 'medium' },
  title: '/alert/name',
  subject: { type: { value: 'asset' }, id: '/alert/host', name: '/alert/host_name' },
  detected_at: '/alert/time',
  metadata: { rule: '/alert/rule' },
}

export function buildAlert(id: string | number, more: Readonly<Record<string, unknown>> = {}) {
  const alert = {
    id,
    level: 2,
    name: `Alert ${id}`,
    host: 7,
    host_name: 'gate',
    time: 1_772_449_200,
    rule: 'r1',
    ...more,
  }
  return { alert }
}

export function createTempFolder(): {
  readonly dir: string
  file(name: string, text: string, mode?: number): string
  remove(): void
} {
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'intake-'))
  return {
    dir,
    file(name, text, mode = 0o600) {
      const at = path.join(dir, name)
      fs.writeFileSync(at, text)
      fs.chmodSync(at, mode)
      return at
    },
    remove: () => fs.rmSync(dir, { recursive: true, force: true }),
  }
}

export type WebhookHeaders = Readonly<Record<string, string>>

/** By this platform's header. */
export function buildPlatformHeaders(secret: string, body: string | Uint8Array, at_ms: number): WebhookHeaders {
  const at = Math.floor(at_ms / 1_000)
  const seal = createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex')
  return { 'x-platform-signature': `t=${at},v1=${seal}` }
}

/** By Standard Webhooks, with a secret that is base64 behind `whsec_`. */
export function buildStandardHeaders(secret: string, id: string, body: string, at_ms: number): WebhookHeaders {
  const at = Math.floor(at_ms / 1_000)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const seal = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${seal}` }
}

/** Posts the bytes as they are. */
export async function sendWebhook(world: TestSite, source: string, body: string | Uint8Array, headers: WebhookHeaders) {
  const answer = await fetch(`${world.url('intelligence')}/api/v1/signal-intake/webhook/${source}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const result = (await answer.json()) as {
    signals?: string[]
    code?: string
    detail?: string
    errors?: { path: string }[]
  }
  return { status: answer.status, retry_after: answer.headers.get('retry-after'), ...result }
}

export async function listSignals(world: TestSite, filter: Readonly<Record<string, string>> = {}): Promise<Signal[]> {
  const ann = await world.as()
  return (await ann.ok(list, { ...filter, limit: 500 })).items
}

export async function readSourceStatus(world: TestSite, name: string) {
  const olga = await world.as({ subject: 'olga', roles: ['operator'] })
  const found = (await olga.ok(sources, {})).items.find((each) => each.name === name)
  if (!found) throw new Error(`there is no source ${name}`)
  return found
}
