// The ingress controller Traefik, which reads Ingresses and Services of a cluster and forwards by them.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { KubeApiserver } from './kube-apiserver.ts'
import { createEngineFolder, findFreePorts, isListening, serverProcess } from './server-process.ts'

const command = process.env.TRAEFIK ?? ''
export const traefikRequirement = {
  isPresent: existsSync(command),
  name: 'traefik',
  hint: 'TRAEFIK names the program; .ci/run builds it',
}

export type IngressController = { readonly port: number; end(): Promise<void> }

/** `namespace`: whose Ingresses it reads, of the classes that name it. */
export async function startTraefik(api: KubeApiserver, namespace: string): Promise<IngressController> {
  const { folder, dispose } = createEngineFolder('traefik')
  const [port = 0] = await findFreePorts(1)
  const ca = path.join(folder, 'ca.pem')
  writeFileSync(ca, api.ca)
  const provider = {
    ...{ endpoint: api.url, token: api.token, certauthfilepath: ca, namespaces: namespace },
    // As docs/routing.md says; Services of the test have addresses of this machine instead of pods.
    ...{ strictprefixmatching: true, allowemptyservices: true, allowexternalnameservices: true },
  }
  const args = [
    `--entrypoints.web.address=127.0.0.1:${port}`,
    ...['--global.checknewversion=false', '--global.sendanonymoususage=false', '--log.level=INFO'],
    ...['--providers.providersthrottleduration=100ms', '--providers.kubernetesingress=true'],
    ...Object.entries(provider).map(([name, value]) => `--providers.kubernetesingress.${name}=${value}`),
  ]
  const program = { command, args, cwd: folder, env: { HOME: folder } }
  const files = { log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') }
  const server = serverProcess({ name: 'traefik', program, ...files }, () => isListening(port))
  const end = async () => {
    await server.kill()
    dispose()
  }
  await server.start().catch(async (error: unknown) => {
    await end()
    throw error
  })
  return { port, end }
}
