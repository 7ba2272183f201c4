// Every connection that leaves a process of the site, held against the code by test/attack/callers/outbound-clients.test.ts.

/**
 * `operator`: any address, since the profile or the command line names it. `rule`: what the address rule of its user
 * permits, at each connection. `site`: sockets of the site.
 */
export type DialledAddresses = 'operator' | 'rule' | 'site'

/** Each file that opens connections to others: the addresses that it dials, and what it authenticates with there. */
export const outboundClients: Readonly<Record<string, readonly [DialledAddresses, string]>> = {
  'adapters/forward/http/dial.ts': [
    'rule',
    'the token of the proxy’s own client; edge and gateway pass on what callers present, to the owners of paths',
  ],
  'adapters/host/traces/otlp-spans.ts': ['operator', 'the headers of the profile'],
  'adapters/identity/client-credentials/token-endpoint.ts': ['rule', 'the client of the site'],
  // Its endpoints come from the discovery document of the provider, which decides over identities anyway.
  'adapters/identity/oidc/request-json.ts': [
    'operator',
    'the client of the site; a caller’s own token to its issuer alone',
  ],
  'adapters/dag-repository/host/host-client.ts': ['operator', 'the token of the profile'],
  'adapters/ingress/kubernetes/ingress-requests.ts': [
    'operator',
    'the token of the service account of the gateway, or of the kubeconfig',
  ],
  'adapters/ingest-source/cassandra/cassandra-session.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/elasticsearch/elasticsearch-source.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/http/download-file.ts': ['rule', 'the file of the source'],
  'adapters/ingest-source/http/request-answer.ts': ['rule', 'the file of the target'],
  'adapters/ingest-source/http/object-client.ts': ['rule', 'the secret of the connection, or a token by it'],
  'adapters/ingest-source/mongo/mongo-connection.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/kafka/kafka-connection.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/mssql/mssql-session.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/mysql/mysql-session.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/oracle/oracle-session.ts': ['rule', 'the proof of the secret of the connection'],
  'adapters/ingest-source/postgres/postgres-session.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/rabbitmq/rabbitmq-session.ts': ['rule', 'the secret of the connection'],
  'adapters/ingest-source/redis/redis-session.ts': ['rule', 'the secret of the connection'],
  'adapters/intake/http/get-once.ts': ['operator', 'the file of the source'],
  'adapters/keyvalue/redis/redis-keyvalue.ts': ['operator', 'the password of the profile'],
  'adapters/lineage/http/lineage-collector.ts': ['operator', 'the key of the profile'],
  'adapters/model/openai/chat-model.ts': ['rule', 'the key of the profile'],
  'adapters/model/openai/embedding-model.ts': ['rule', 'the key of the profile'],
  'adapters/platform/address-rule/checked-connection.ts': ['rule', 'what its user sends'],
  'adapters/platform/address-rule/checked-socket.ts': ['rule', 'what its user sends'],
  'adapters/platform/http-client/http-client.ts': ['rule', 'what its user sends'],
  'adapters/registration/http/gateway-registrar.ts': ['rule', 'a token of the client of the site'],
  'adapters/service-info/http/service-info-reader.ts': ['rule', 'nothing'],
  'adapters/serve/http/socket-file.ts': ['site', 'nothing: it looks whether a socket of the site is served'],
  'adapters/store/opensearch/cluster/cluster.ts': ['operator', 'the password of the profile'],
  'adapters/tools/mcp/bounded-fetch.ts': ['rule', 'what the supplier of tokens of its user gives'],
  'adapters/transport/amqp/broker-connection.ts': ['operator', 'the password of the profile'],
  'adapters/transport/coalition/hub-http-client.ts': ['operator', 'the secret of the node'],
  'adapters/transport/mtls/client.ts': ['operator', 'the certificate of the site'],
  'adapters/webhook/http/webhook.ts': ['operator', 'a seal by the secret of the sink'],
  'adapters/workflow/airflow/airflow-client.ts': [
    'operator',
    'a token of the caller for Airflow, exchanged for each request',
  ],
  'cli/client/http-request.ts': ['operator', 'the operator’s token, to the operator’s own site'],
  'daemon/boot/host/remote-roles.ts': [
    'operator',
    'the certificate of the role, and a token for the other one alone: its own, or one that it holds for a principal',
  ],
  'daemon/boot/host/role-presence.ts': ['site', 'nothing: it looks whether a socket of the site answers'],
  'daemon/boot/host/socket-request.ts': ['site', 'tokens of the site, to roles of the site'],
}
