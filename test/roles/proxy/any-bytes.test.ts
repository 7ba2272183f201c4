// Any bytes: nothing throws, allowed requests are allowed by the words of the interface too, and no re-encoding passes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normaliseTarget } from '../../../daemon/kernel/forward/normal-target.ts'
import { compileProxyConfig } from '../../../daemon/roles/proxy/config.ts'
import type { RequestDecision } from '../../../daemon/roles/proxy/request/request-decision.ts'
import { decideRequest } from '../../../daemon/roles/proxy/serving/decide-request.ts'
import { settings } from '../../../daemon/roles/proxy/settings.ts'

const numRuns = Number(process.env.FAST_CHECK_RUNS ?? 3_000)
const prefix = '/public-api'
const allowlist = ['GET /api/v1/report', 'GET /api/v1/report/{id}', 'GET /api/{a}/x/{b}', 'GET /tree/*', 'GET /']
const config = compileProxyConfig(
  settings.schema.parse({ allowlist: allowlist.join('\n'), public_path_prefix: prefix }),
)
const judgeTarget = (target: string): RequestDecision =>
  decideRequest({ method: 'GET', target, headers: [], peer: '' }, config)
const isAllowed = (target: string) => judgeTarget(target).next === 'read'

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array).toString('latin1'))
/** The parts of paths and of attacks on them. */
const pieces = fc.constantFrom(
  ...[
    '/',
    '/',
    '/',
    '//',
    '.',
    '..',
    '...',
    '/.',
    '/..',
    '/./',
    '/../',
    ';',
    '%3b',
    '%3B',
    ';x=1',
    '%20',
    '+',
    ' ',
    '\t',
    '\0',
  ],
  ...['api', 'v1', 'report', '42', 'x', 'tree', 'admin', 'public-api', '%61pi', 'v%31', '%72eport', '~', '%7e', '%7E'],
  ...[
    '%',
    '%2',
    '%2e',
    '%2E',
    '%2f',
    '%2F',
    '%5c',
    '\\',
    '%25',
    '%252e',
    '%252f',
    '%25%32%65',
    '%00',
    '%0d%0a',
    '%7f',
    '%u2215',
  ],
  ...[
    '2e',
    '2f',
    '65',
    'u002e',
    '?',
    '%3f',
    '#',
    '%23',
    '&',
    '=',
    '%c0%af',
    '%c3%a9',
    '%ef%bc%8f',
    '%e2%80%a6',
    '%ff',
    '%e2%80%8b',
    '%E2%80%AE',
    '%c2%85',
    '%e2%80%a8',
    '%f3%a0%80%81',
    '%cd%b8',
    '\xe9',
  ],
)
const attacks = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))
const nearMisses = fc.tuple(fc.constantFrom('', '/..', '/api/v1/report', '/api/v1/report/', '/tree/', '/api/'), attacks)
const targets = fc.oneof(
  bytes,
  attacks,
  bytes.map((path) => `${prefix}/${path}`),
  nearMisses.map((parts) => prefix + parts.join('')),
)

/** The interface, sentence by sentence, without a thought for cost: the normal path, or undefined for a denial. */
function normaliseByInterface(target: string): string | undefined {
  if (!target.startsWith(`${prefix}/`) || target.length > 8_192) return undefined
  if (/[^!-~]/.test(target) || target.includes('#')) return undefined
  const [path = ''] = target.slice(prefix.length).split('?', 1)
  if (/[^A-Za-z0-9._~!$&'()*+,;=:@/%-]/.test(path)) return undefined
  if (
    path
      .split('%')
      .slice(1)
      .some((part) => !/^[0-9a-f]{2}/i.test(part))
  )
    return undefined
  const once = path.replaceAll(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(once, 'latin1'))
  } catch {
    return undefined
  }
  if (
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}]/u.test(text) ||
    once.includes('\\') ||
    once.split('/').length !== path.split('/').length
  )
    return undefined
  if (/%[0-9a-f]{2}|%u[0-9a-f]/i.test(once)) return undefined
  const beyond = [...text].filter((character) => character > '\x7f').join('')
  if (/[⁄∕∖⧵⧸⧹]|[/\\.%;?#]/.test(beyond + beyond.normalize('NFKC'))) return undefined
  const segments = path.split('/').slice(1).map(normaliseSegment)
  return segments.includes(undefined) ? undefined : resolveDots(segments as string[])
}

function normaliseSegment(segment: string): string | undefined {
  const text = decodeURIComponent(segment)
  const name = text.replaceAll(' ', '').split(';')[0] ?? ''
  if (text !== name && ['', '.', '..'].includes(name)) return undefined
  return segment.replaceAll(/%(..)/g, (escaped, hex) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return /[\w.~-]/.test(character) ? character : escaped.toUpperCase()
  })
}

function resolveDots(segments: readonly string[]): string | undefined {
  const last = segments.at(-1) ?? ''
  if (last === '.' || last === '..') return undefined
  const accepted: string[] = []
  for (const segment of segments.slice(0, -1)) {
    if (segment === '..' && accepted.length === 0) return undefined
    if (segment === '..') accepted.pop()
    else if (segment !== '.' && segment !== '') accepted.push(segment)
  }
  return `/${[...accepted, last].join('/')}`
}

const patterns = [
  /^\/api\/v1\/report$/,
  /^\/api\/v1\/report\/[^/]+$/,
  /^\/api\/[^/]+\/x\/[^/]+$/,
  /^\/tree\/.+$/s,
  /^\/$/,
]

describe('any target', () => {
  test('is allowed exactly where a plain reading of the interface allows it, in the same normal form', () => {
    fc.assert(
      fc.property(targets, (target) => {
        const path = normaliseByInterface(target)
        const expected = path !== undefined && patterns.some((pattern) => pattern.test(path)) ? path : undefined
        const found = judgeTarget(target)
        expect(found.next === 'read' ? found.path : undefined).toBe(expected)
      }),
      { numRuns },
    )
  })

  test('has a normal form that is its own normal form, with the query to the byte', () => {
    fc.assert(
      fc.property(targets, (target) => {
        const normal = normaliseTarget(target, 0)
        if ('denied' in normal || !target.startsWith('/')) return
        expect(normaliseTarget(normal.path + normal.query, 0)).toEqual(normal)
        expect(target.endsWith(normal.query)).toBe(true)
        expect(normal.path).toMatch(/^\/[!-~]*$/)
      }),
      { numRuns },
    )
  })

  test('stays within its rule for a server that decodes twice, drops parameters and resolves again', () => {
    fc.assert(
      fc.property(targets, (target) => {
        const { next, path, rule } = judgeTarget(target)
        if (next !== 'read' || !rule) return
        const read = decodeCarelessly(decodeCarelessly(path))
        for (const [at, segment] of rule.segments.entries()) {
          if (segment === undefined) expect(read[at]).toMatch(/./s)
          else expect(read[at]).toBe(segment)
        }
        if (!rule.isSubtree) expect(read).toHaveLength(rule.segments.length)
      }),
      { numRuns },
    )
  })
})

/** A backend as careless as they come. */
function decodeCarelessly(path: string | readonly string[]): string[] {
  const text = typeof path === 'string' ? path : `/${path.join('/')}`
  const decoded = text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
    Buffer.from(escapes.replaceAll('%', ''), 'hex').toString(),
  )
  const segments = decoded.replaceAll('\\', '/').split('/').slice(1)
  const accepted: string[] = []
  for (const segment of segments.map((each) => (each.split(';')[0] ?? '').normalize('NFKC').trim())) {
    if (segment === '..') accepted.pop()
    else if (segment !== '.' && (segment !== '' || segments.length === 1)) accepted.push(segment)
  }
  return accepted
}

describe('re-encoding', () => {
  const letters = fc.infiniteStream(fc.boolean())
  const escaped = (character: string, isUpper: boolean) => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, '0')
    return `%${isUpper ? hex.toUpperCase() : hex}`
  }
  /** Escapes some of the characters that fit, after the prefix and before the query. */
  const recoded = (target: string, fits: RegExp, chance: Iterator<boolean>) => {
    const end = target.search(/[?#]/)
    const path = target.slice(prefix.length, end < 0 ? undefined : end)
    const some = path.replaceAll(fits, (character) =>
      chance.next().value ? escaped(character, Boolean(chance.next().value)) : character,
    )
    return target.slice(0, prefix.length) + some + (end < 0 ? '' : target.slice(end))
  }
  const inside = targets.filter((target) => target.startsWith(`${prefix}/`))

  test('of characters that need none changes nothing', () => {
    fc.assert(
      fc.property(inside, letters, (target, chance) => {
        // Not those that are part of an escape themselves.
        const again = recoded(target, /(?<!%.?)[A-Za-z0-9._~-]/g, chance)
        const [before, after] = [judgeTarget(target), judgeTarget(again)]
        expect([after.next, after.rule?.name]).toEqual([before.next, before.rule?.name])
        if (before.next === 'read') expect(after.path).toBe(before.path)
      }),
      { numRuns },
    )
  })

  test('of slashes, dots, backslashes, parameters and escapes lets nothing in that was denied', () => {
    fc.assert(
      fc.property(inside, letters, (target, chance) => {
        if (isAllowed(target) || /%(?![0-9a-f]{2})/i.test(target)) return
        expect(isAllowed(recoded(target, /(?<=.)[/.;\\%]/g, chance))).toBe(false)
      }),
      { numRuns },
    )
  })
})

test('any head is judged: no method, header or address throws', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), bytes)
  const names = fc.oneof(
    text,
    fc.constantFrom('X-Forwarded-For', 'Connection', 'Content-Length', 'Transfer-Encoding', 'Accept'),
  )
  const heads = fc.record({
    method: fc.oneof(text, fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', '__proto__')),
    target: targets,
    headers: fc.array(fc.tuple(names, text), { maxLength: 8 }).map((fields) => fields.flat()),
    peer: text,
  })
  fc.assert(
    fc.property(heads, (head) => {
      const { next, reason, rule, headers } = decideRequest(head, config)
      expect((next === 'deny') === (reason !== undefined)).toBe(true)
      expect((next === 'read' || next === 'write') === (rule !== undefined)).toBe(true)
      expect(headers.every((value) => /^[\t -~]*$/.test(value))).toBe(true)
    }),
    { numRuns },
  )
})
