// What ../go/main.go is, with OpenSSL: Node.js contains it. GROUP is its name, and it prints the
// name of the group that it was told to use, since Node.js does not show the one that was used.
const crypto = require("crypto");
const fs = require("fs");
const tls = require("tls");

const [side, group, text, certificate, last] = process.argv.slice(2);
const size = Number(text);
const common = { ecdhCurve: group, minVersion: "TLSv1.3" };

function whole(socket, then) {
  const parts = [];
  let found = 0;
  socket.on("data", (part) => {
    parts.push(part);
    found += part.length;
    if (found >= size) then(Buffer.concat(parts));
  });
  socket.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
}

if (side === "client") {
  const ca = fs.readFileSync(certificate);
  const options = { ...common, ca, port: Number(last), host: "127.0.0.1", servername: "localhost" };
  const sent = crypto.randomBytes(size);
  const socket = tls.connect(options, () => socket.write(sent));
  whole(socket, (found) => {
    if (!found.reverse().equals(sent)) throw new Error("the answer is another one");
    console.log(group);
    socket.end();
  });
} else {
  const [cert, key] = [certificate, last].map((name) => fs.readFileSync(name));
  const server = tls.createServer({ ...common, cert, key }, (socket) => {
    whole(socket, (found) => {
      console.log(group);
      socket.end(found.reverse());
      server.close();
    });
  });
  server.on("tlsClientError", (error) => {
    console.error(error);
    process.exit(1);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
}
