// A site with the resolution role, and lenses and records to resolve.
import { afterAll, beforeAll, expect } from 'vitest'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import {
  type ProfileSections,
  startTestSite,
  type TestSite,
  type TestSiteOptions,
  waitUntil,
} from '../../support/site/test-site.ts'

/** People with a name and a date. */
export function buildPersonLens(version = '1.0.0', entity_type = 'person') {
  return {
    lens: 'people',
    version,
    entity_type,
    fields: [
      { name: 'given_name', type: 'name' as const },
      { name: 'surname', type: 'name' as const },
      { name: 'date_of_birth', type: 'date' as const, optional: true },
    ],
  }
}

/** Records of people by number: the same number is the same person, however it is written in another list. */
export function buildPeople(from: number, to: number) {
  return Array.from({ length: to - from }, (_, at) => {
    const number = from + at
    return {
      id: `p${number}`,
      given_name: `${formatLetters(number * 7 + 3)}an`,
      surname: `${formatLetters(number * 13 + 5)}son`,
      date_of_birth: `19${String(10 + (number % 89)).padStart(2, '0')}-0${1 + (number % 9)}-1${number % 10}`,
    }
  })
}

function formatLetters(number: number): string {
  const alphabet = 'bcdfghjklmnprstvwz'
  let [left, text] = [number * 2_654_435 + 17, '']
  for (let at = 0; at < 5; at++) {
    text += (alphabet[left % alphabet.length] ?? '') + 'aeiou'[left % 5]
    left = Math.floor(left / alphabet.length)
  }
  return text
}

/** The run, once it is through or has ended otherwise. */
export function waitForRunEnd(person: CheckedClient, run_id: string) {
  return waitUntil(async () => {
    const run = await person.ok(status, { run_id })
    return ['completed', 'failed', 'cancelled'].includes(run.state) && run
  })
}

/** One world for all tests of a file, which must end without a logged error. */
export function setUpResolutionSite(
  settings: Readonly<Record<string, unknown>> = {},
  more: ProfileSections = {},
  onEvent: NonNullable<TestSiteOptions['onEvent']> = () => undefined,
): () => TestSite {
  let world: TestSite | undefined
  beforeAll(async () => {
    const profile = { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0, ...settings }, ...more }
    world = await startTestSite({ profile, onEvent })
  })
  afterAll(async () => {
    await world?.end()
    expect(world?.loggedErrors ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}
