// Renders a PDF from HTML and from a template. Needs nothing but Go.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

type object = map[string]any

var client = http.Client{Timeout: 90 * time.Second}

// call sends JSON and gives the answer's bytes; an error says what is wrong.
func call(path string, body object) ([]byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest("POST", os.Getenv("PLATEN_URL")+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLATEN_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode < 300 {
		return answer, err
	}
	return nil, refusal(response.StatusCode, answer)
}

// refusal reads the three shapes that errors have.
func refusal(status int, answer []byte) error {
	switch status {
	case 401, 403:
		var auth struct{ Error, Message string }
		if err := json.Unmarshal(answer, &auth); err != nil {
			return err
		}
		return fmt.Errorf("%s: %s", auth.Error, auth.Message)
	case 422:
		var validation struct {
			Errors []struct {
				Source struct{ Pointer string }
				Detail string
			}
		}
		if err := json.Unmarshal(answer, &validation); err != nil {
			return err
		}
		text := ""
		for _, fault := range validation.Errors {
			text += fault.Source.Pointer + ": " + fault.Detail + "\n"
		}
		return fmt.Errorf("%s", text)
	default:
		var resource struct{ Error struct{ Message string } }
		if err := json.Unmarshal(answer, &resource); err != nil {
			return err
		}
		return fmt.Errorf("%s", resource.Error.Message)
	}
}

func render(part any, fileName string) error {
	pdf, err := call("/api/v1/renderers/pdf", object{"parts": []any{part}, "output_encoding": "binary"})
	if err != nil {
		return err
	}
	return os.WriteFile(fileName, pdf, 0o644)
}

func run() error {
	if err := render("<h1>Hello</h1>", "hello.pdf"); err != nil {
		return err
	}

	content := `<h1>Invoice {{ number }}</h1><p>{{ total|currency("EUR") }}</p>`
	// It tells the templates of several runs apart.
	name := fmt.Sprint("Invoice ", time.Now().UnixNano())
	answer, err := call("/api/v1/templates", object{"template": object{"name": name, "content": content}})
	if err != nil {
		return err
	}
	var created struct{ Data struct{ ID string } }
	if err := json.Unmarshal(answer, &created); err != nil {
		return err
	}
	template := object{"template_id": created.Data.ID, "context": object{"number": 7, "total": 1234.5}}
	return render(object{"type": "template", "content": template}, "invoice.pdf")
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
