// Real servers that the files of one run share: each starts when the first file needs it, and is killed after the last file.
// Each file has a prefix, vhost or realm of its own. It may kill the server and start it again, since these files run one after
// the other. A file that loses the server's disk, freezes it or changes its limits makes a server of its own.
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { type Keycloak, type KeycloakDescription, keycloak, keycloakRequirement, keycloakServer } from './keycloak.ts'
import {
  type OpenSearch,
  type OpenSearchDescription,
  openSearchServer,
  opensearch,
  opensearchRequirement,
} from './opensearch.ts'
import {
  type Rabbitmq,
  type RabbitmqDescription,
  type RabbitmqRights,
  rabbitmq,
  rabbitmqRequirement,
  rabbitmqServer,
} from './rabbitmq.ts'
import { issueServerCertificates, type ServerCertificateFiles } from './server-certificates.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Each is undefined where the server is not installed. */
    opensearch: OpenSearchDescription | undefined
    rabbitmq: RabbitmqDescription | undefined
    keycloak: KeycloakDescription | undefined
  }
}

/** Global set-up of the tests on real servers: prepares them, starts none. The function that it returns ends them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const ends: (() => unknown)[] = []
  const share = async <Server extends { end(): Promise<void> }>(isPresent: boolean, prepare: () => Promise<Server>) => {
    if (!isPresent) return undefined
    const server = await prepare()
    ends.unshift(() => server.end())
    return server
  }
  const search = await share(opensearchRequirement.isPresent, () => opensearch())
  const broker = await share(rabbitmqRequirement.isPresent, () => rabbitmq())
  const provider = await share(keycloakRequirement.isPresent, () => {
    const certificates = issueServerCertificates('keycloak')
    ends.push(() => certificates.dispose())
    return keycloak({ tls: certificates.of('keycloak') })
  })
  project.provide('opensearch', search?.description)
  project.provide('rabbitmq', broker?.description)
  project.provide('keycloak', provider?.description)
  return async () => {
    for (const end of ends) await end()
  }
}

/** `start` waits until it answers; `end` leaves it running. */
export function sharedOpenSearch(): OpenSearch {
  return openSearchServer(requireShared('opensearch', inject('opensearch')))
}

/** A vhost with these users, made by the first `start`. */
export function sharedRabbitmq(vhost: string, users: Readonly<Record<string, RabbitmqRights>>): Rabbitmq {
  return rabbitmqServer(requireShared('rabbitmq', inject('rabbitmq')), { vhost, users })
}

/** A realm made by the first `start`; `ca` is the authority of its TLS certificate. */
export function sharedKeycloak(realm: string, lifespan_s?: number): Keycloak & Pick<ServerCertificateFiles, 'ca'> {
  const description = requireShared('keycloak', inject('keycloak'))
  return { ...keycloakServer(description, { realm, lifespan_s }), ca: description.tls?.ca ?? '' }
}

function requireShared<Description>(name: string, description: Description | undefined): Description {
  if (!description)
    throw new Error(`the run has no ${name}: the server is not installed, or the project has no global set-up`)
  return description
}
