// A real Cassandra of a test's own, of one node: users with passwords, and TLS beside plain connections.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { auth, Client } from 'cassandra-driver'
import { findDefaultJava, readJavaVersion } from './find-java.ts'
import { forwardPort } from './forward-port.ts'
import type { ServerCertificateFiles } from './server-certificates.ts'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

const jars = process.env.CASSANDRA_HOME ?? ''
const java = findDefaultJava()
export const cassandraRequirement = {
  isPresent: jars !== '' && java !== undefined && readJavaVersion(java) === 17,
  name: 'cassandra',
  hint: 'CASSANDRA_HOME names the folder of its jars, which .ci/run fetches, and java is of version 17',
}

export type Cassandra = ServerProcess & {
  /** Plain and by TLS, at 127.0.0.1, and at 127.0.0.3 behind a proxy. */
  readonly port: number
  readonly datacenter: string
  /** May do everything. */
  readonly username: string
  readonly password: string
  /** A client of the owner, which the test closes. */
  connect(): Promise<Client>
  end(): Promise<void>
}

/** Not started yet. */
export async function cassandra(tls: ServerCertificateFiles): Promise<Cassandra> {
  const { folder, dispose } = createEngineFolder('cassandra')
  const at = (name: string) => path.join(folder, name)
  const [port = 0, storage_port = 0, secure_storage_port = 0] = await findFreePorts(3)
  const identity = ['-inkey', tls.key, '-in', tls.cert, '-certfile', tls.ca, '-passout', 'pass:keystore']
  execFileSync('openssl', ['pkcs12', '-export', '-out', at('keys.p12'), ...identity], { stdio: 'pipe' })
  const settings = {
    ...{ cluster_name: 'test', num_tokens: 1, partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner' },
    ...{ data_file_directories: [at('data')], commitlog_directory: at('commitlog'), hints_directory: at('hints') },
    ...{ saved_caches_directory: at('caches'), cdc_raw_directory: at('cdc'), endpoint_snitch: 'SimpleSnitch' },
    ...{ commitlog_sync: 'periodic', commitlog_sync_period: '10000ms', commitlog_total_space: '64MiB' },
    seed_provider: [
      {
        class_name: 'org.apache.cassandra.locator.SimpleSeedProvider',
        parameters: [{ seeds: `127.0.0.1:${storage_port}` }],
      },
    ],
    ...{ listen_address: '127.0.0.1', storage_port, ssl_storage_port: secure_storage_port, rpc_address: '127.0.0.1' },
    ...{ native_transport_port: port, authenticator: 'PasswordAuthenticator', authorizer: 'CassandraAuthorizer' },
    ...{ role_manager: 'CassandraRoleManager', permissions_validity: '0ms', materialized_views_enabled: true },
    ...{ memtable_heap_space: '32MiB', memtable_offheap_space: '32MiB', key_cache_size: '1MiB' },
    ...{ file_cache_size: '32MiB', concurrent_reads: 4, concurrent_writes: 4, native_transport_max_threads: 8 },
    client_encryption_options: {
      ...{
        enabled: true,
        optional: true,
        keystore: at('keys.p12'),
        keystore_password: 'keystore',
        store_type: 'PKCS12',
      },
    },
  }
  // Its YAML has JSON in it.
  writeFileSync(at('cassandra.yaml'), JSON.stringify(settings), { mode: 0o600 })
  const program = { command: path.join(java ?? '', 'bin/java'), args: javaWords(at), cwd: folder }
  const [username, password] = ['cassandra', 'cassandra']
  const connect = async () => {
    const authProvider = new auth.PlainTextAuthProvider(username, password)
    const sslOptions = { ca: [readFileSync(tls.ca)], host: '127.0.0.1', rejectUnauthorized: true }
    const place = { contactPoints: [`127.0.0.1:${port}`], localDataCenter: 'datacenter1' }
    const client = new Client({ ...place, authProvider, sslOptions })
    await client.connect()
    return client
  }
  const server = serverProcess({ name: 'cassandra', program, log: at('log'), pid_file: at('pid') }, async () => {
    await (await connect()).shutdown()
    return true
  })
  const elsewhere = await forwardPort('127.0.0.3', port)
  return {
    ...{ ...server, port, datacenter: 'datacenter1', username, password, connect },
    async end() {
      elsewhere.close()
      await server.kill()
      dispose()
    },
  }
}

/** Parts of Java that it reaches into, as its own script opens them. */
const exported = [
  ...['java.base/jdk.internal.misc', 'java.base/jdk.internal.ref', 'java.base/sun.nio.ch', 'java.base/java.lang.ref'],
  ...['java.management.rmi/com.sun.jmx.remote.internal.rmi', 'java.rmi/sun.rmi.registry', 'java.rmi/sun.rmi.server'],
  ...['java.sql/java.sql', 'jdk.unsupported/sun.misc'],
]
const opened = [
  ...['java.base/java.lang.module', 'java.base/jdk.internal.loader', 'java.base/jdk.internal.ref', 'java.base/java.io'],
  ...['java.base/jdk.internal.reflect', 'java.base/jdk.internal.math', 'java.base/jdk.internal.module'],
  ...['java.base/jdk.internal.util.jar', 'jdk.management/com.sun.management.internal', 'java.base/sun.nio.ch'],
  ...['java.base/java.lang', 'java.base/java.lang.reflect', 'java.base/java.util', 'java.base/java.util.concurrent'],
  ...['java.base/java.util.concurrent.atomic', 'java.base/java.nio', 'java.base/java.net'],
]

function javaWords(at: (name: string) => string): string[] {
  const properties = {
    ...{
      'cassandra.config': `file://${at('cassandra.yaml')}`,
      'cassandra.storagedir': at('.'),
      'cassandra.logdir': at('.'),
    },
    ...{
      'cassandra-foreground': 'yes',
      'cassandra.skip_wait_for_gossip_to_settle': '0',
      'cassandra.ring_delay_ms': '0',
    },
    ...{ 'cassandra.superuser_setup_delay_ms': '0', 'jdk.attach.allowAttachSelf': 'true' },
    'io.netty.tryReflectionSetAccessible': 'true',
  }
  return [
    ...['-Xmx400m', '-Xss512k', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:MaxDirectMemorySize=128m'],
    ...exported.flatMap((name) => ['--add-exports', `${name}=ALL-UNNAMED`]),
    ...opened.flatMap((name) => ['--add-opens', `${name}=ALL-UNNAMED`]),
    ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
    ...['-cp', `${jars}/*`, 'org.apache.cassandra.service.CassandraDaemon'],
  ]
}
