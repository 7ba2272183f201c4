// The client of RabbitMQ: a script of its own in the executable, which only threads that read by it load.
import { connect, credentials } from 'amqplib'

export const rabbitmqDriver = { connect, credentials }
export type RabbitmqDriver = typeof rabbitmqDriver
