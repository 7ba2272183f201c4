// The caller's own token goes to the issuer that made it, and to no other service: over every client that leaves the site.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { hasBody, pathParameters } from '../../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../../daemon/kernel/role/built-in-operations.ts'
import { consensus } from '../../../daemon/roles/consensus/role.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { intelligence } from '../../../daemon/roles/intelligence/role.ts'
import { resolution } from '../../../daemon/roles/resolution/role.ts'
import { buildOpinionInput } from '../../roles/consensus/consensus-site.ts'
import { sampleMapping } from '../../roles/intelligence/intake-sender.ts'
import { type DialledAddresses, outboundClients } from '../../support/accreditation/outbound-clients.ts'
import { createCheckedClient } from '../../support/http/checked-client.ts'
import {
  providerAudience,
  type RecordingProvider,
  startRecordingProvider,
} from '../../support/http/recording-provider.ts'
import { listRepositoryFiles, readSource, type SourceFile } from '../../support/repository/source-tree.ts'
import { createTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

/** Users of clients with a rule, that let them dial any address, and who names it. */
const anyAddressUsers: Readonly<Record<string, string>> = {
  'daemon/boot/registration/open-registration.ts': 'the operator, in the profile or the environment',
  'daemon/runtime/edge/open-edge.ts': 'the operator, in the profile',
  'daemon/runtime/gateway/open-embedder.ts': 'the operator, in the profile',
  'daemon/runtime/gateway/open-model.ts': 'the operator, in the profile',
  'daemon/runtime/gateway/open-rest.ts': 'the operator, in the profile',
  'daemon/runtime/gateway/open-service-tools.ts': 'the operator, in the profile',
  'daemon/offline/tools/tool-services.ts': 'the operator, as an argument of the command',
}
const anyAddressFile = 'adapters/platform/address-rule/address-rule.ts'
const httpClientFile = 'adapters/platform/http-client/http-client.ts'

/** Files that see the credential of a caller of the site. */
const credentialHolders: readonly string[] = [
  'adapters/identity/oidc/exchange-token.ts',
  'adapters/identity/offline/provider.ts',
  'adapters/identity/x509/provider.ts',
  'adapters/serve/http/handle-request.ts',
  'adapters/serve/http/served-request.ts',
]

const network =
  /^(node:(https?|net|tls|http2|dgram)|undici|amqplib|@redis\/client|@opensearch-project\/.+|@opentelemetry\/exporter.+|adapters\/platform\/(http-client\/http-client|address-rule\/checked-(connection|socket|lookup))\.ts)/
const connects =
  /new (HttpClient|Client|CheckedConnection|OTLPTraceExporter)\(|\bcheckedSocket\(|import\('undici|\bcreateClient\(|\b(https?|tls|net)\.(request|get|connect)\(|\b(connect(Tls)?|httpsRequest|fetch)\(/
/** Names of what a caller presented. */
const credentialName = /^(subject_token|credential|bearer|\w*(Delegating|Presented)Credential|presentedCredential)$/i

const sources = listRepositoryFiles()
  .filter((file) => /^(adapters|daemon|cli)\/.*(?<!\.test)\.tsx?$/.test(file))
  .map(readSource)

function opensConnection({ text, loads }: SourceFile): boolean {
  return connects.test(text) && (loads.some((each) => network.test(each)) || text.includes("import('undici"))
}

/** By what the code names, not by its comments. */
function seesCredential({ names, declaredNames }: SourceFile): boolean {
  return [...names, ...declaredNames].some(({ name }) => name.split('.').some((word) => credentialName.test(word)))
}

test('every client is in the list above, with the addresses that it dials and what it authenticates with', () => {
  const found = sources.filter(opensConnection).map((file) => file.path)
  expect(found.sort()).toEqual(Object.keys(outboundClients).sort())
})

test('a client dials any address only where the operator names it', () => {
  const clients = (dials: DialledAddresses) => sources.filter((file) => outboundClients[file.path]?.[0] === dials)
  // The HTTP client of the site demands a rule, by its type; libraries dial what the profile names.
  const operated = clients('operator').filter(({ loads }) => loads.includes(httpClientFile))
  const expected = [...operated.map((file) => file.path), ...Object.keys(anyAddressUsers)]
  const users = sources.filter(
    ({ path: at, text }) => at !== anyAddressFile && /^import \{[^}]*\banyAddress\b/m.test(text),
  )
  expect(users.map((file) => file.path).sort()).toEqual(expected.sort())
  const unruled = clients('rule').filter(({ text }) => !/\b(AddressRule|CheckedDestination)\b/.test(text))
  expect(unruled.map((file) => file.path)).toEqual([])
})

test('no client sees the credential of a caller, and one adapter returns it to its issuer', () => {
  const holders = sources.filter((file) => file.path.startsWith('adapters/') && seesCredential(file))
  expect(holders.map((file) => file.path).sort()).toEqual([...credentialHolders].sort())
  expect(holders.filter((file) => file.path in outboundClients)).toEqual([])
})

test('no role sees it but the site role, which issues tokens', () => {
  const seeing = sources.filter((file) => /^daemon\/(roles|shared)\//.test(file.path) && seesCredential(file))
  const folders = new Set(seeing.map((file) => path.dirname(file.path)))
  expect([...folders].sort()).toEqual(['daemon/roles/site/delegation', 'daemon/roles/site/token'])
})

async function startRecordedSite(): Promise<{ provider: RecordingProvider; world: TestSite }> {
  const provider = await startRecordingProvider()
  const world = await createTestSite({
    profile: {
      platform: { roles: ['site', 'resolution', 'consensus', 'intelligence'] },
      resolution: { port: 0 },
      intelligence: { port: 0 },
      identity: { provider: 'oidc', audiences: { airflow: ['resolution'] } },
      sso: {
        ...{ issuer: provider.issuer, audience: providerAudience, client_id: 'site:a', client_secret: 'a-secret' },
        role_map: { examiner: ['admin'] },
      },
      consensus: {
        sinks: [{ name: 'hook', kind: 'webhook', url: `${provider.issuer}/hook`, secret_file: 'hook.secret' }],
        contributors: { one: { signer_keys: ['one-1'], spoken_for_by: ['ada'] } },
      },
      intake: {
        sources: [
          {
            kind: 'http',
            name: 'feed',
            url: `${provider.issuer}/feed`,
            mapping: { ...sampleMapping, items: '/alerts' },
            every_s: 1,
          },
        ],
      },
    },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: provider.issuer, OTEL_BSP_SCHEDULE_DELAY: '20' },
  })
  onTestFinished(async () => {
    await world.end()
    provider.close()
    expect(world.loggedErrors).toEqual([])
  })
  writeFileSync(path.join(path.dirname(world.folder.profile), 'hook.secret'), 'x'.repeat(48), { mode: 0o600 })
  await world.start()
  return { provider, world }
}

test('a token that a caller presents everywhere leaves the site in one request to its issuer', async () => {
  const { provider, world } = await startRecordedSite()
  provider.answerExchange(() => [200, { token_type: 'Bearer', access_token: 'theirs', expires_in: 60 }])
  const token = await provider.sign(world.clock.now())
  const ada = createCheckedClient(
    world,
    token,
    (operation) =>
      [consensus, resolution, intelligence].find((role) =>
        operationsOf(role).some((each) => each.operation === operation),
      )?.name ?? '',
  )
  const session = { lens_id: 'people', lens_version: '1', policy: { m: 1, n: 1 }, classification: 'UNCLASSIFIED' }
  const { id } = await ada.ok(create, session)
  await ada.ok(contribute, { id, ...buildOpinionInput('one', 0.95) })
  for (const { role, operation } of [consensus, resolution, intelligence].flatMap(operationsOf)) {
    const { method, path, streams } = operation
    if (path === undefined || streams || pathParameters(path).length > 0) continue
    await world.call(role, method, path, hasBody(method) ? {} : undefined, { token })
  }
  const exchanged = await world.delegation('resolution', { subject_token: token }).token({ service: 'airflow' })
  expect(isRefusal(exchanged) || exchanged.token).toBe('theirs')
  const reached = ['/hook', '/feed', '/v1/traces', '/keys', '/token']
  await waitUntil(() => reached.every((place) => provider.requests.some((request) => request.path === place)))
  await world.stop()
  const [, , signature = ''] = token.split('.')
  const carrying = provider.requests.filter(({ head, body, path: at }) => [head, body, at].join().includes(signature))
  expect(carrying.map((request) => request.path)).toEqual(['/token'])
})
