# Receives webhooks and verifies that they come from Platen. Needs only Ruby.

require "json"
require "openssl"
require "socket"

KEY = ENV.fetch("PLATEN_WEBHOOK_SECRET").delete_prefix("whsec_").unpack1("m")
TOLERANCE = 5 * 60 # seconds

def genuine?(headers, body)
  id, timestamp = headers.values_at("webhook-id", "webhook-timestamp")
  return false unless timestamp&.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= TOLERANCE

  hmac = OpenSSL::HMAC.digest("SHA256", KEY, "#{id}.#{timestamp}.".b + body)
  expected = "v1,#{[hmac].pack("m0")}"
  headers["webhook-signature"].to_s.split.any? { |signature| OpenSSL.secure_compare(expected, signature) }
end

server = TCPServer.new("127.0.0.1", ENV.fetch("PORT", "8000").to_i)
$stdout.sync = true
puts "listening on port #{server.addr[1]}"

loop do
  client = server.accept
  client.gets # the request line
  headers = {}
  until (line = client.gets.to_s.chomp).empty?
    name, value = line.split(":", 2)
    headers[name.downcase] = value.to_s.strip
  end
  body = client.read(headers["content-length"].to_i).to_s
  genuine = genuine?(headers, body)
  client.write("HTTP/1.1 #{genuine ? "204 No Content" : "400 Bad Request"}\r\nConnection: close\r\n\r\n")
  client.close
  next unless genuine

  # Do slow work in a queue of your own. The same webhook-id may arrive again.
  delivery = JSON.parse(body)
  puts [headers["webhook-id"], delivery["status"], delivery["error"]].join(" ")
end
