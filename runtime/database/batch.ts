/** Several statements and one Sync: one round trip, and nothing runs after the first statement that fails (contract 5.2). */

export interface Statement {
  text: string
  /** Bound as text. */
  values: readonly (string | null)[]
  /** `rows`: the rows without the names and types of their columns. `tag`: the command tag alone. Absent: everything. */
  reads?: 'rows' | 'tag'
}

/** The answer of Postgres to one statement as unparsed text, so that it may cross from one isolate to another. `rowsOf` parses it. */
export interface Result {
  /** The command tag, like `SELECT 1`. A COMMIT of a failed transaction comes back as `ROLLBACK`. */
  tag: string
  /** Names of the columns. */
  names: string[]
  /** Object identifiers of the columns' types. */
  types: number[]
  rows: (string | null)[][]
}

/** The part of the driver's connection that sends messages of the extended query protocol. */
interface Wire {
  parse(message: { text: string; name: string; types: never[] }): void
  bind(message: { portal: string; statement: string; values: unknown[]; binary: boolean }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  sync(): void
}

const noStream = 'COPY … FROM STDIN: a request has no stream to copy from'

/** The driver's client accepts a batch in place of a query, and calls its methods. */
export class Batch {
  readonly done: Promise<Result[]>
  #statements: readonly Statement[]
  #fault: () => Error | undefined
  #answered: (results: readonly Result[]) => void
  #results: Result[] = []
  #current: Omit<Result, 'tag'> = { names: [], types: [], rows: [] }
  #isCopying = false
  #resolve!: (results: Result[]) => void
  #reject!: (error: unknown) => void

  /**
   * @param fault called before the batch is sent. @returns why it must not be sent any more, if so.
   * @param answered called with the results before the driver sends the next batch.
   */
  constructor(
    statements: readonly Statement[],
    fault: () => Error | undefined,
    answered: (results: readonly Result[]) => void,
  ) {
    this.#statements = statements
    this.#fault = fault
    this.#answered = answered
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Sends the batch. @returns an error where nothing was sent. */
  submit(wire: Wire): Error | undefined {
    const fault = this.#fault()
    if (fault) return fault
    for (const { text, values, reads } of this.#statements) {
      wire.parse({ text, name: '', types: [] })
      wire.bind({ portal: '', statement: '', values: [...values], binary: false })
      if (!reads) wire.describe({ type: 'P', name: '' })
      wire.execute({ portal: '', rows: 0 })
    }
    wire.sync()
    return undefined
  }

  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#current.names = message.fields.map(({ name }) => name)
    this.#current.types = message.fields.map(({ dataTypeID }) => dataTypeID)
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    if (this.#statements[this.#results.length]?.reads !== 'tag') this.#current.rows.push(message.fields)
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#results.push({ tag: text, ...this.#current })
    this.#current = { names: [], types: [], rows: [] }
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleReadyForQuery(): void {
    this.#answered(this.#results)
    this.#resolve(this.#results)
  }

  /** After an error the driver calls no other method of this batch. */
  handleError(error: unknown): void {
    // Postgres reports the statement that came in place of the data: the connection is sound after the Sync
    this.#reject(this.#isCopying ? Object.assign(new Error(noStream), { code: '0A000' }) : error)
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(): void {
    this.#isCopying = true
  }

  handleCopyData(): void {}
}
