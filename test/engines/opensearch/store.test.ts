// Runs the cluster store against each requirement on stores, on a real server.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { eachRequirement } from '../../conformance/each-requirement.ts'
import { opensearchArm } from '../../conformance/opensearch-arm.ts'
import { replayHistories } from '../../conformance/random-operations.ts'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/requires.ts'

let server: OpenSearch

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})

const arm = opensearchArm(() => server)

describe('opensearch', () => {
  eachRequirement(arm)
})

whenPresent(arm)('random operations are answered as a map in memory answers them, and so as SQLite does', async () => {
  await replayHistories(arm.open, { seed: 20260301, runs: 12, length: 40 })
  expect.hasAssertions()
})
